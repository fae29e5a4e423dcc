/** Whether two values of JSON are the same. A member that is undefined is none; the order of members does not count. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((value, index) => isSame(value, other[index]));
  }
  const [before, now] = [one as Record<string, unknown>, other as Record<string, unknown>];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].every((key) =>
    isSame(before[key], now[key]),
  );
}
