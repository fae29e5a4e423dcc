import { deflateRawSync } from 'node:zlib';
import { METRICS } from './flood.ts';

/** Returns the link to a layout with a chart for each instance. */
export function chartsOf(
  node: string,
  instances: readonly string[],
  metrics: readonly string[] = Array.from({ length: METRICS }, (_, index) => `m${index}`),
): string {
  const panels = instances.map((instance) => ({
    id: instance,
    kind: 'series',
    mode: 'lines',
    sources: [{ target: { node, instance }, metrics }],
  }));
  const layout = { oasis: 'layout', version: 1, panels, range: { live: true, span: 10_000 } };
  return deflateRawSync(JSON.stringify(layout)).toString('base64url');
}
