import { judge, type Schema } from '@oasis/wire';
import { isInhibited } from '../alarms/alarm.ts';
import { alarmBook } from '../alarms/book.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { cellsOf } from './store.ts';

/**
 * Returns the names of the metrics of an instance that are in alarm now: by the limits of their type, or by a rule. A rule does not
 * say what it has compared, so its unit decides. Reads no signal.
 */
export function alarmedMetrics(target: Target, schema: Schema): ReadonlySet<string> {
  const active = [...alarmBook.peek().values()].filter(
    (alarm) => keyOf(alarm) === keyOf(target) && alarm.state === 'active' && !isInhibited(alarm),
  );
  const { values = [] } = cellsOf(target).sample.peek() ?? {};
  const isAlarmed = (metric: Schema['metrics'][number], index: number) => {
    const { name, unit } = metric;
    const value = values[index];
    const isBeyond = (typeof value === 'number' || typeof value === 'bigint') && judge(metric, value);
    return (
      isBeyond ||
      active.some(
        (alarm) =>
          alarm.rule.startsWith(`${schema.name}.${name} `) || (unit !== undefined && alarm.unit === unit),
      )
    );
  };
  return new Set(schema.metrics.filter(isAlarmed).map(({ name }) => name));
}
