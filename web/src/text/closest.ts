/** Names that are offered in the place of one that does not exist. */
const MAX_PROPOSALS = 3;
/** Number of letters that are compared: the beginning of a longer name. */
const COMPARED_LENGTH = 100;

/** Returns the names that somebody may have meant, the most likely one first: few letters differ, or one contains the other. */
export function closest(wanted: string, names: Iterable<string>): string[] {
  const typed = wanted.toLowerCase().slice(0, COMPARED_LENGTH);
  const most = Math.max(1, Math.floor(typed.length / 3));
  const found: { readonly name: string; readonly distance: number }[] = [];
  for (const name of new Set(names)) {
    const other = name.toLowerCase().slice(0, COMPARED_LENGTH);
    const isPart = typed.length > 1 && (other.includes(typed) || (other.length > 1 && typed.includes(other)));
    const distance = distanceOf(typed, other);
    if (distance <= most) found.push({ name, distance });
    else if (isPart) found.push({ name, distance: most + distance / COMPARED_LENGTH });
  }
  found.sort((one, other) => one.distance - other.distance || one.name.localeCompare(other.name));
  return found.slice(0, MAX_PROPOSALS).map(({ name }) => name);
}

/** Letters to add, remove or replace (Levenshtein). */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let left = 1; left <= one.length; left++) {
    const next = [left];
    for (let right = 1; right <= other.length; right++) {
      const replaced = row[right - 1] + (one[left - 1] === other[right - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[right] + 1, next[right - 1] + 1));
    }
    row = next;
  }
  return row[other.length];
}
