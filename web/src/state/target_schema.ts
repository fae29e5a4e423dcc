import type { Schema } from '@oasis/wire';
import { keyOf, type Target } from '../wire/target.ts';
import { entryOf } from './registry.ts';
import { schemaOf } from './schemas.ts';
import { cellsOf, chosenKeys } from './store.ts';

/** Returns the schema of an instance, whether it is watched or not. Reads signals. */
export function schemaOfTarget(target: Target): Schema | undefined {
  // Only watched instances have cells.
  const own = chosenKeys.value.has(keyOf(target)) ? cellsOf(target).status.value?.schema : undefined;
  const entry = own ? undefined : entryOf(target);
  return own ?? (entry && schemaOf(entry));
}
