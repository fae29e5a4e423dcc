import type { ProbeCodec } from '../codec.ts';
import { type MetricType, parseSchema } from '../schema.ts';

const TYPES = new WeakMap<object, readonly MetricType[]>();

/** The parts of a generated probe type that the batch decoder needs. */
export function typesOf(of: ProbeCodec<unknown>): readonly MetricType[] {
  let types = TYPES.get(of);
  if (!types) {
    types = parseSchema(JSON.parse(of.schema)).metrics.map((metric) => metric.type);
    TYPES.set(of, types);
  }
  return types;
}
