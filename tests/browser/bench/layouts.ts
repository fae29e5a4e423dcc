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
  return linkOf(panels, 10_000, instances.length > 4 ? gridOf(instances) : undefined);
}

/** Returns the link to a layout with the spectrum of the first metric, from as many samples as a transform takes. */
export function spectrumOf(node: string, instance: string): string {
  const expressions = [`"${node}"/${instance}.m0`];
  return linkOf([{ id: 'spectrum', kind: 'spectrum', expressions, size: 65_536, window: 'hann' }], 5000);
}

/** Columns of a grid. */
const COLUMNS = 8;

/** Places panels beside and below each other, so that all are visible. */
function gridOf(ids: readonly string[]): object {
  const rows = Array.from({ length: Math.ceil(ids.length / COLUMNS) }, (_, row) =>
    ids.slice(row * COLUMNS, (row + 1) * COLUMNS),
  );
  const leaf = (id: string) => ({
    type: 'leaf',
    size: 100,
    data: { views: [id], activeView: id, id: `group ${id}` },
  });
  const root = {
    type: 'branch',
    size: 800,
    data: rows.map((row) => ({ type: 'branch', size: 100, data: row.map(leaf) })),
  };
  const panels = Object.fromEntries(ids.map((id) => [id, { id, contentComponent: 'series', title: id }]));
  return { grid: { root, width: 800, height: 100 * rows.length, orientation: 'VERTICAL' }, panels };
}

function linkOf(panels: readonly object[], span: number, geometry?: object): string {
  const layout = { oasis: 'layout', version: 1, panels, range: { live: true, span }, geometry };
  return deflateRawSync(JSON.stringify(layout)).toString('base64url');
}
