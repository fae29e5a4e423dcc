/** The last part of a scoped PDL name. */
export function shortType(type: string): string {
  return type.split('::').at(-1) || type;
}

/** A configured rate as it was written: no padding, no exponents. */
export function formatHertz(hertz: number): string {
  return String(Number(hertz.toFixed(3)));
}
