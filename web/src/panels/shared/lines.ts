import type { Meaning, Metric } from '@oasis/wire';
import type { Limit } from '../../charts/draw_marks.ts';
import type { LineStyle } from '../../charts/line.ts';
import { SERIES_COLORS } from '../../charts/palette.ts';
import { metricAt } from '../../series/parts.ts';
import { judgeKnown, shortText } from '../../state/expressions.ts';
import { nameOf } from '../../state/names.ts';
import type { PanelSpec } from '../../state/panel_kinds.ts';
import { cellsOf } from '../../state/store.ts';
import type { ViewResult } from '../../stream/query.ts';
import { keyOf } from '../../wire/target.ts';

export interface DescribedLine extends LineStyle {
  /** Tells the lines of a panel apart, also after other ones were added. */
  readonly id: string;
  readonly metric: string;
  readonly doc: string;
  readonly limits: readonly Limit[];
  /** Number of the expression in the panel; absent for metrics. */
  readonly expression?: number;
}

/** The elements that match a pattern, by instance and pattern. */
export type Parts = Readonly<Record<string, readonly string[]>>;

/** Returns the elements whose columns an answer has. */
export function partsIn({ answer }: ViewResult): Parts {
  const found: Record<string, string[]> = {};
  if (answer.kind !== 'columns') return found;
  for (const { key, part } of answer.blocks) {
    if (!part) continue;
    found[partKey(key, part.pattern)] ??= [];
    found[partKey(key, part.pattern)].push(part.label);
  }
  return found;
}

function partKey(key: string, pattern: string): string {
  return `${key} ${pattern}`;
}

/** Returns the lines of a panel, from the schemas of their instances. Reads signals. */
export function describeLines(spec: PanelSpec & { kind: 'series' }, parts: Parts): DescribedLine[] {
  const isMixed = spec.sources.length > 1;
  let color = 0;
  return spec.sources.flatMap(({ target, metrics }) => {
    const schema = cellsOf(target).status.value?.schema;
    const isStep = cellsOf(target).entry.value?.kind === 'on-change';
    return metrics.flatMap((name): DescribedLine[] => {
      const metric: Partial<Metric> = metricAt(schema, name) ?? {};
      const elements = parts[partKey(keyOf(target), name)];
      const labels = elements?.map((element) => element || (metric.label ?? name)) ?? [metric.label ?? name];
      return labels.map((label) => ({
        id: [keyOf(target), name, ...(elements ? [label] : [])].join(' '),
        metric: name,
        label: isMixed ? `${nameOf(target)} ${label}` : label,
        unit: metric.unit,
        isCounter: metric.kind === 'counter',
        isStep,
        color: color++ % SERIES_COLORS,
        doc: metric.doc ?? name,
        limits: [...limitsOf(metric.warn, 'warn'), ...limitsOf(metric.alarm, 'alarm')],
      }));
    });
  });
}

/** Describes the lines of expressions that can be computed. Reads signals. */
export function describeExpressions(texts: readonly string[], first: number): DescribedLine[] {
  return texts.flatMap((text, index) => {
    const found = judgeKnown(text);
    if (found.state !== 'ready') return [];
    return {
      id: text,
      metric: text,
      label: shortText(text),
      unit: found.unit,
      isCounter: false,
      isStep: false,
      color: (first + index) % SERIES_COLORS,
      doc: text,
      limits: [],
      expression: index,
    };
  });
}

function limitsOf(threshold: Meaning['warn'], severity: Limit['severity']): Limit[] {
  return [threshold?.below, threshold?.above].flatMap((value) =>
    value === undefined ? [] : { value, severity },
  );
}
