/** What came as JSON from outside: any of it may be missing, or be something else. */
export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the values in a list; none if it is not a list. */
export function valuesOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects in a list; none if the value is not a list. */
export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}
