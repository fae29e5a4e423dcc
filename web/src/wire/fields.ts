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

/** Levels of a document; ours have fewer than ten, and places of panels 32 times two. */
const MAX_DEPTH = 100;

/** Returns JSON without what is nested deeper than any document of ours: functions that call themselves would overflow. */
export function withinDepth(json: unknown, depth = MAX_DEPTH): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (depth === 0) return null;
  if (Array.isArray(json)) return json.map((entry) => withinDepth(entry, depth - 1));
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, withinDepth(value, depth - 1)]));
}
