/** Colors between two of the style sheet, evenly; `#rrggbb` or `#rgb`. */
export function ramp(from: string, to: string, count: number): string[] {
  const [start, end] = [parts(from), parts(to)];
  return Array.from({ length: count }, (_, index) => {
    const share = count > 1 ? index / (count - 1) : 1;
    const mixed = start.map((part, place) => Math.round(part + share * (end[place] - part)));
    return `rgb(${mixed.join(' ')})`;
  });
}

/** Colors through several of the style sheet, as numbers. */
export function path(colors: readonly string[], count: number): number[][] {
  const stops = colors.map(parts);
  return Array.from({ length: count }, (_, index) => {
    const place = (index / (count - 1)) * (stops.length - 1);
    const at = Math.min(stops.length - 2, Math.floor(place));
    return stops[at].map((part, of) => Math.round(part + (place - at) * (stops[at + 1][of] - part)));
  });
}

function parts(color: string): number[] {
  // Style sheets are written in as few letters as possible: `#fff`.
  const whole = color.length === 4 ? color.replace(/[\da-f]/gi, '$&$&') : color;
  return [1, 3, 5].map((at) => Number.parseInt(whole.slice(at, at + 2), 16) || 0);
}
