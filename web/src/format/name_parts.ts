/** Letters at the end of a name that stay. */
const END_LENGTH = 10;
/** Names that begin alike for fewer letters differ where they are not cut. */
const ALIKE = 4;
/** Letters that words may have together: more would leave no room for the rest. */
const MAX_WORDS_LENGTH = 24;
/** Fewer letters are not cut: an ellipsis has their room. */
const FEWEST = 4;

/** A part of a name: one that stays, or one that may be cut. */
export interface NamePart {
  readonly from: number;
  readonly to: number;
  readonly stays: boolean;
}

/** Returns the words that tell long names apart: of `cell-0042-main` and `cell-0043-main` the two numbers. */
export function tellingWords(names: Iterable<string>): Set<string> {
  const sorted = [...new Set(names)].filter((name) => name.length >= 2 * END_LENGTH).sort();
  const found = new Set<string>();
  for (let index = 1; index < sorted.length; index++) {
    const [one, other] = [sorted[index - 1], sorted[index]];
    let alike = 0;
    while (alike < one.length && one[alike] === other[alike]) alike++;
    if (alike < ALIKE) continue;
    for (const name of [one, other]) {
      const word = wordsIn(name).find(({ end }) => end > alike)?.word;
      if (word !== undefined && word.length <= MAX_WORDS_LENGTH) found.add(word);
    }
  }
  return found;
}

/**
 * Divides a name into parts that may be cut and parts that stay: words that tell it from others, or else its end. A short
 * name is one part that stays.
 */
export function partsOf(name: string, telling: ReadonlySet<string>): readonly NamePart[] {
  if (name.length < 2 * END_LENGTH) return [{ from: 0, to: name.length, stays: true }];
  const end = beginsLetter(name, name.length - END_LENGTH)
    ? name.length - END_LENGTH
    : name.length - END_LENGTH + 1;
  // The last ones of many words stay.
  const kept = wordsIn(name).filter(({ word, at }) => at > 0 && telling.has(word));
  const fitting = kept.filter((_, index) => lettersFrom(kept, index) <= MAX_WORDS_LENGTH);
  const ranges = fitting.map(({ at, end: to }): [number, number] =>
    to > end ? [Math.min(at, end), name.length] : [at, to],
  );
  if (ranges.length === 0) ranges.push([end, name.length]);
  const parts: NamePart[] = [];
  const add = (to: number, stays: boolean) => {
    const last = parts.at(-1);
    const from = last?.to ?? 0;
    if (to <= from) return;
    if (last?.stays && stays) parts[parts.length - 1] = { ...last, to };
    else parts.push({ from, to, stays });
  };
  for (const [from, to] of [...ranges, [name.length, name.length]]) {
    add(from, from - (parts.at(-1)?.to ?? 0) < FEWEST);
    add(to, true);
  }
  return parts;
}

function lettersFrom(words: readonly { word: string }[], index: number): number {
  return words.slice(index).reduce((sum, { word }) => sum + word.length, 0);
}

function wordsIn(name: string): { word: string; at: number; end: number }[] {
  return [...name.matchAll(/[\p{L}\p{N}]+/gu)].map(({ 0: word, index }) => ({
    word,
    at: index,
    end: index + word.length,
  }));
}

/** Letters beyond the first 65,536 are two units, which stay together. */
function beginsLetter(name: string, at: number): boolean {
  const unit = name.charCodeAt(at);
  return unit < 0xdc00 || unit > 0xdfff;
}
