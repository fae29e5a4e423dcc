/** Colors between two of the style sheet, evenly; `#rrggbb` alone. */
export function ramp(from: string, to: string, count: number): string[] {
  const [start, end] = [parts(from), parts(to)];
  return Array.from({ length: count }, (_, index) => {
    const share = count > 1 ? index / (count - 1) : 1;
    const mixed = start.map((part, place) => Math.round(part + share * (end[place] - part)));
    return `rgb(${mixed.join(' ')})`;
  });
}

function parts(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) || 0);
}
