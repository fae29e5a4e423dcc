import type { Meaning, Metric } from '@oasis/wire';
import type { Limit } from '../charts/draw_marks.ts';
import type { LineStyle } from '../charts/line.ts';
import { SERIES_COLOURS } from '../charts/palette.ts';
import { cellsOf } from '../state/store.ts';
import type { PanelSpec } from './spec.ts';

export interface DescribedLine extends LineStyle {
  readonly metric: string;
  readonly doc: string;
  readonly limits: readonly Limit[];
}

/** What the lines of a panel are, from the schemas of their instances. Reads signals. */
export function describeLines(spec: PanelSpec & { kind: 'series' }): DescribedLine[] {
  const isMixed = spec.sources.length > 1;
  let colour = 0;
  return spec.sources.flatMap(({ target, metrics }) => {
    const schema = cellsOf(target).status.value?.schema;
    const isStep = cellsOf(target).entry.value?.kind === 'on-change';
    return metrics.map((name): DescribedLine => {
      const metric: Partial<Metric> = schema?.metrics.find((candidate) => candidate.name === name) ?? {};
      const label = metric.label ?? name;
      return {
        metric: name,
        label: isMixed ? `${target.instance} ${label}` : label,
        unit: metric.unit,
        isCounter: metric.kind === 'counter',
        isStep,
        colour: colour++ % SERIES_COLOURS,
        doc: metric.doc ?? name,
        limits: [...limitsOf(metric.warn, 'warn'), ...limitsOf(metric.alarm, 'alarm')],
      };
    });
  });
}

function limitsOf(threshold: Meaning['warn'], severity: Limit['severity']): Limit[] {
  return [threshold?.below, threshold?.above].flatMap((value) =>
    value === undefined ? [] : { value, severity },
  );
}
