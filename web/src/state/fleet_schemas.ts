import { parseSchema, type Schema, SchemaError } from '@oasis/wire';
import { signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';

/** Schemas of the types in fleets, by their hashes. */
const schemas = signal<ReadonlyMap<string, Schema>>(new Map());
const requested = new Set<string>();
/** Most types that are read. */
const MAX_TYPES = 100;

export function schemaByHash(hash: string): Schema | undefined {
  return schemas.value.get(hash);
}

/** Reads the schemas that are not known yet. */
export async function readFleetSchemas(hashes: readonly string[]): Promise<void> {
  const wanted = hashes.filter((hash) => !requested.has(hash)).slice(0, MAX_TYPES - requested.size);
  for (const hash of wanted) requested.add(hash);
  for (const hash of wanted) {
    try {
      const schema = parseSchema(await fetchJson('GET', `schemas/${hash}`));
      schemas.value = new Map([...schemas.peek(), [hash, schema]]);
    } catch (error) {
      // The DAC may be unreachable: the next answer asks again.
      if (!(error instanceof SchemaError)) requested.delete(hash);
    }
  }
}
