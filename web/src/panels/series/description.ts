import { targetsIn } from '../../expressions/resolve.ts';
import { isNumber } from '../../series/metrics.ts';
import { shortText } from '../../state/expressions.ts';
import type { Source } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import { describePanel } from '../shared/description.ts';
import { parseExpressions, sourcesOf, usesTarget, withoutSource } from '../shared/expressions.ts';
import { parseName, parseSources, present, settingsIn } from '../shared/parse.ts';
import type { PanelSettings } from '../shared/settings.ts';
import { SeriesPanel } from './series_panel.tsx';

const words = strings.panels;

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly series: {
      readonly sources: readonly Source[];
      /** `shares`: each value as a share of the sum of all, stacked. */
      readonly mode: 'lines' | 'shares';
      /** Computed lines, after those of the sources; each names the nodes of its instances. */
      readonly expressions?: readonly string[];
      /** The title of a chart beside the name of its instance, if it is shorter than the names of its metrics. */
      readonly title?: string;
      readonly settings?: PanelSettings;
    };
  }
}

export const series = describePanel<'series'>({
  kind: 'series',
  name: 'chart',
  Panel: SeriesPanel,
  parse(json) {
    const sources = parseSources(json.sources);
    const mode = json.mode === 'shares' ? 'shares' : 'lines';
    const expressions = mode === 'lines' ? parseExpressions(json.expressions) : [];
    if (sources.length + expressions.length === 0) return undefined;
    return {
      kind: 'series',
      sources,
      mode,
      ...(expressions.length > 0 && { expressions }),
      ...present('title', parseName(json.title)),
      ...settingsIn(json),
    };
  },
  targets: ({ sources, expressions = [] }) => [
    ...sources.map(({ target }) => target),
    ...expressions.flatMap(targetsIn),
  ],
  without(content, key) {
    const sources = withoutSource(content.sources, key);
    const expressions = (content.expressions ?? []).filter((text) => !usesTarget(text, key));
    if (sources.length + expressions.length === 0) return undefined;
    return { ...content, sources, ...(content.expressions && { expressions }) };
  },
  title({ sources, expressions = [], title, mode }, instances) {
    const metrics = [...sources.flatMap((source) => source.metrics), ...expressions.map(shortText)];
    // An expression names its instances.
    if (sources.length === 0) return metrics.join(', ');
    return `${instances} \u00b7 ${title ?? (metrics.length <= 2 ? metrics.join(', ') : words.mode[mode])}`;
  },
  settings({ mode }) {
    const isLines = mode === 'lines';
    return { hasValues: isLines, hasAxis: isLines, hasLines: true };
  },
  choices: [
    {
      name: 'chart',
      label: 'Chart',
      about: 'Numbers over time, of one or more instances.',
      from: 'metrics',
      needs: 'a number',
      fits: isNumber,
      build: (metrics) => [{ kind: 'series', sources: sourcesOf(metrics), mode: 'lines' }],
    },
    {
      name: 'expression',
      label: 'Expression',
      about: 'A chart of a formula: metrics of any instances, with their units.',
      from: 'expressions',
      count: 1,
      build: (expressions) => ({ kind: 'series', sources: [], mode: 'lines', expressions }),
    },
    {
      name: 'shares',
      label: 'Shares',
      about: 'Counters as shares of their sum.',
      from: 'metrics',
      needs: 'a counter',
      fits: (metric) => isNumber(metric) && metric.kind === 'counter',
      build: (metrics) => [{ kind: 'series', sources: sourcesOf(metrics), mode: 'shares' }],
    },
  ],
});
