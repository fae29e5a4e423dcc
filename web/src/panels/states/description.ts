import { lazy } from '../../components/lazy.tsx';
import { isScalar } from '../../series/metrics.ts';
import type { Source } from '../../stream/query.ts';
import { describePanel } from '../shared/description.ts';
import { sourcesOf, withoutSource } from '../shared/expressions.ts';
import { parseSources } from '../shared/parse.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly states: { readonly sources: readonly Source[] };
  }
}

export const states = describePanel<'states'>({
  kind: 'states',
  name: 'states',
  Panel: lazy(async () => (await import('./states_panel.tsx')).StatesPanel),
  parse(json) {
    const sources = parseSources(json.sources);
    return sources.length > 0 ? { kind: 'states', sources } : undefined;
  },
  targets: ({ sources }) => sources.map(({ target }) => target),
  without(content, key) {
    const sources = withoutSource(content.sources, key);
    return sources.length === 0 ? undefined : { ...content, sources };
  },
  choices: [
    {
      name: 'states',
      label: 'States',
      about: 'States over time.',
      from: 'metrics',
      fits: isScalar,
      build: (metrics) => [{ kind: 'states', sources: sourcesOf(metrics) }],
    },
  ],
});
