/** Generated code of a PDL enum: numbers by name, in the order of the PDL. */
export type Enumeration = Readonly<Record<string, number>>;

/** Numbers of an enum. */
export type EnumeratorOf<E extends Enumeration> = E[keyof E];

const NUMBERS = new WeakMap<Enumeration, ReadonlySet<number>>();
const MAX_SHOWN_VALUES = 8;

/** Returns the name of a number; undefined if the enum does not declare it. */
export function nameOf<E extends Enumeration>(of: E, value: number): (keyof E & string) | undefined {
  return Object.keys(of).find((name) => of[name] === value);
}

/** Whether the enum declares the number. */
export function isDeclared<E extends Enumeration>(of: E, value: unknown): value is EnumeratorOf<E> {
  let numbers = NUMBERS.get(of);
  if (!numbers) {
    numbers = new Set(Object.values(of));
    NUMBERS.set(of, numbers);
  }
  return typeof value === 'number' && numbers.has(value);
}

/** Describes an undeclared number in an error: `none of IDLE (0), RUNNING (5)`. */
export function noneOf(of: Enumeration): string {
  const all = Object.entries(of).map(([name, value]) => `${name} (${value})`);
  const shown = all.slice(0, MAX_SHOWN_VALUES).join(', ');
  return `none of ${shown}${all.length > MAX_SHOWN_VALUES ? `, … (${all.length} in all)` : ''}`;
}
