import { compared } from '../format/compared.ts';
import { visible } from '../text/visible.ts';
import type { Target } from '../wire/target.ts';
import { entryOf } from './registry.ts';
import { readSchemas } from './schemas.ts';
import { schemaOfTarget } from './target_schema.ts';

/** What an alarm compared. */
interface Compared extends Target {
  readonly rule: string;
  readonly value: number | undefined;
  readonly limit: number | undefined;
  readonly unit: string | undefined;
}

/** Limits of numbers, as the DAC names them after the metric (limits.rs). All others are limits of one enumerator. */
const OF_NUMBERS = /^((low|high)( warning)?|(below|above) range)$/;

/** Returns the metric and the enumerator of a rule that the DAC has made from the limit of an enum: `TYPE.METRIC ENUMERATOR`. */
function limitOf({ rule, ...target }: Compared): [metric: string, enumerator: string] | undefined {
  const type = entryOf(target)?.type;
  if (type === undefined || !rule.startsWith(`${type}.`)) return undefined;
  const [, metric, enumerator] = /^(\S+) (.+)$/.exec(rule.slice(type.length + 1)) ?? [];
  return metric === undefined || OF_NUMBERS.test(enumerator) ? undefined : [metric, enumerator];
}

/** Returns the name of a value that an alarm compared; undefined for a number. Reads signals. */
export function enumeratorOf(alarm: Compared, value: number | undefined): string | undefined {
  const [metric, enumerator] = limitOf(alarm) ?? [];
  if (value === undefined || enumerator === undefined) return undefined;
  if (value === alarm.limit) return visible(enumerator);
  const known = schemaOfTarget(alarm)?.metrics.find(({ name }) => name === metric);
  const named = known?.enum?.values.find((entry) => Number(entry.value) === value);
  return named && visible(named.name);
}

/** Returns the value of an alarm beside its limit: enumerators by their names. Reads signals. */
export function figuresOf(alarm: Compared): string {
  const { value, limit, unit } = alarm;
  const [name, other] = [enumeratorOf(alarm, value), enumeratorOf(alarm, limit)];
  if (name === undefined) return compared(value, limit, unit);
  return value === limit || other === undefined ? name : `${name} \u2260 ${other}`;
}

/** Reads the schema that names the value of an alarm, if its rule does not. */
export async function readEnumerators(alarm: Compared): Promise<void> {
  const entry = entryOf(alarm);
  if (entry && alarm.value !== alarm.limit && limitOf(alarm)) await readSchemas([entry]);
}
