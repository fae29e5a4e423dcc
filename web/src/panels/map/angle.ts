import type { Schema } from '@oasis/wire';
import { formatReference } from '../../expressions/syntax.ts';
import { metricAt } from '../../series/parts.ts';
import type { Target } from '../../wire/target.ts';

/** An angle of an instance in degrees, as an expression. */
export function angleOf(target: Target, metric: string, schema: Schema | undefined): string {
  const reference = formatReference({ node: target.node, instance: target.instance, metric });
  return metricAt(schema, metric)?.unit === 'rad' ? `${reference} in [deg]` : reference;
}
