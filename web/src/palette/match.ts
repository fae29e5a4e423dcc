/** Fuzzy matching: how well a text fits what somebody has typed. */

/** A text with what matching needs of it, made once. */
export interface Searchable {
  readonly title: string;
  readonly lower: string;
  /** Detail and other words, in lower case. */
  readonly rest: string;
}

const WHOLE_SCORE = 120;
const START_SCORE = 90;
const WORD_SCORE = 70;
const INSIDE_SCORE = 45;
/** Letters in order, with others between them. */
const SCATTERED_SCORE = 10;
const PER_BOUNDARY = 8;
const PER_NEIGHBOR = 4;
const OF_REST = 0.5;
/** First letters that are tried in a text. */
const MOST_STARTS = 6;
/** A letter may stand this far from the one before it. */
const FARTHEST = 12;

export function searchable(title: string, ...rest: readonly (string | undefined)[]): Searchable {
  return { title, lower: title.toLowerCase(), rest: rest.filter(Boolean).join(' ').toLowerCase() };
}

/** Returns how well a text fits all words, which are in lower case; undefined if it does not. More is better. */
export function scoreOf(text: Searchable, words: readonly string[]): number | undefined {
  let sum = 0;
  for (const word of words) {
    const found = Math.max(scoreIn(text.title, text.lower, word), OF_REST * contained(text.rest, word));
    if (found <= 0) return undefined;
    sum += found;
  }
  // The shorter one of texts that fit as well is more likely meant.
  return sum - Math.min(20, text.lower.length / 8);
}

/** Returns the places in a title that match, to be emphasized: beginnings and ends, in order and apart from each other. */
export function matchedIn(title: string, words: readonly string[]): readonly (readonly [number, number])[] {
  const lower = title.toLowerCase();
  const marked = new Set<number>();
  // Lower case may have another length: then no letter is at its place.
  if (lower.length !== title.length) return [];
  for (const word of words) {
    const at = bestPlace(lower, title, word);
    const places =
      at >= 0 ? Array.from(word, (_, index) => at + index) : (scattered(title, lower, word)?.places ?? []);
    for (const place of places) marked.add(place);
  }
  const found: [number, number][] = [];
  for (const place of [...marked].sort((one, other) => one - other)) {
    const last = found.at(-1);
    if (last && last[1] === place) last[1]++;
    else found.push([place, place + 1]);
  }
  return found;
}

function scoreIn(title: string, lower: string, word: string): number {
  const at = contained(lower, word, title);
  return at > 0 ? at : (scattered(title, lower, word)?.score ?? 0);
}

function contained(lower: string, word: string, title = lower): number {
  const at = bestPlace(lower, title, word);
  if (at < 0) return 0;
  if (lower.length === word.length) return WHOLE_SCORE;
  if (at === 0) return START_SCORE;
  return isBoundary(title, at) ? WORD_SCORE : INSIDE_SCORE;
}

/** Where a word begins in a text: best at the beginning of another word; -1 if nowhere. */
function bestPlace(lower: string, title: string, word: string): number {
  const first = lower.indexOf(word);
  for (let at = first, tries = 0; at >= 0 && tries < MOST_STARTS; tries++) {
    if (isBoundary(title, at)) return at;
    at = lower.indexOf(word, at + 1);
  }
  return first;
}

/** The letters of a word in order, each near the one before it. */
function scattered(
  title: string,
  lower: string,
  word: string,
): { readonly score: number; readonly places: readonly number[] } | undefined {
  if (word.length < 2) return undefined;
  let best: { score: number; places: number[] } | undefined;
  let start = lower.indexOf(word[0]);
  for (let tries = 0; start >= 0 && tries < MOST_STARTS; tries++) {
    const found = follow(title, lower, word, start);
    if (found && (!best || found.score > best.score)) best = found;
    start = lower.indexOf(word[0], start + 1);
  }
  return best;
}

function follow(title: string, lower: string, word: string, start: number) {
  const places = [start];
  let score = SCATTERED_SCORE + (isBoundary(title, start) ? PER_BOUNDARY : 0);
  for (let index = 1; index < word.length; index++) {
    const before = places[index - 1];
    const at = nextPlace(title, lower, word[index], before + 1);
    if (at < 0 || at - before > FARTHEST) return undefined;
    if (at === before + 1) score += PER_NEIGHBOR;
    else if (isBoundary(title, at)) score += PER_BOUNDARY;
    else score -= Math.min(3, at - before - 1);
    places.push(at);
  }
  return score > 0 ? { score, places } : undefined;
}

/** The next place of a letter: the neighbor, or else the beginning of a word, or else the next one. */
function nextPlace(title: string, lower: string, letter: string, from: number): number {
  const first = lower.indexOf(letter, from);
  if (first === from) return first;
  for (let at = first; at >= 0 && at - from < FARTHEST; at = lower.indexOf(letter, at + 1)) {
    if (isBoundary(title, at)) return at;
  }
  return first;
}

/** Whether a word begins here: after anything but letters and digits, or at the capital of `camelCase`. */
function isBoundary(text: string, at: number): boolean {
  if (at === 0) return true;
  const [before, here] = [text[at - 1], text[at]];
  if (!isLetter(before)) return true;
  return before === before.toLowerCase() && here !== here.toLowerCase();
}

function isLetter(letter: string): boolean {
  return (
    (letter >= 'a' && letter <= 'z') ||
    (letter >= 'A' && letter <= 'Z') ||
    (letter >= '0' && letter <= '9') ||
    letter > '\u007f'
  );
}
