import { type Metric, parseSchema, type Schema, SchemaError } from '@oasis/wire';
import { signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import type { InstanceEntry } from '../stream/protocol.ts';
import { isFields } from '../wire/fields.ts';

/**
 * Schemas of probe types, also of instances that no panel shows. The DAC sends a schema with a subscription only, so each
 * type is read once from one of its instances, when the page needs the metrics.
 */
const schemas = signal<ReadonlyMap<string, Schema>>(new Map());
const requested = new Set<string>();
/** Most types that are read. */
const MAX_TYPES = 500;
/** Schemas read before the page sees them: each change of the map redraws the list. */
const REDRAW_SCHEMAS = 16;

type Typed = Pick<InstanceEntry, 'id' | 'uuid' | 'version'>;

export function schemaOf(entry: Typed): Schema | undefined {
  return schemas.value.get(typeKey(entry));
}

/** Reads the schemas of these instances that are not known yet. */
export async function readSchemas(entries: readonly Typed[]): Promise<void> {
  const wanted = new Map<string, Typed>();
  for (const entry of entries) {
    const key = typeKey(entry);
    if (requested.has(key) || requested.size >= MAX_TYPES) continue;
    requested.add(key);
    wanted.set(key, entry);
  }
  let found: [string, Schema][] = [];
  for (const [key, { id }] of wanted) {
    try {
      const answer = await fetchJson('GET', `instances/${id}`);
      found.push([key, parseSchema(isFields(answer) ? answer.schema : undefined)]);
    } catch (error) {
      // The instance may be gone, or the DAC unreachable: the next request tries again.
      if (!(error instanceof SchemaError)) requested.delete(key);
    }
    if (found.length < REDRAW_SCHEMAS) continue;
    publish(found);
    found = [];
  }
  if (found.length > 0) publish(found);
}

/** Returns the first metric whose name or label contains a text in lower case. */
export function findMetric(schema: Schema | undefined, text: string): Metric | undefined {
  return schema?.metrics.find(({ name, label }) => `${name} ${label ?? ''}`.toLowerCase().includes(text));
}

function publish(found: readonly (readonly [string, Schema])[]): void {
  schemas.value = new Map([...schemas.peek(), ...found]);
}

function typeKey({ uuid, version }: Typed): string {
  return `${uuid} ${version}`;
}
