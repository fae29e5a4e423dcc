import { isBlob } from '@oasis/wire';
import { lazy } from '../../components/lazy.tsx';
import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { parseName, parseTarget } from '../shared/parse.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** The newest image of a metric, or that of the time shown. */
    readonly image: { readonly target: Target; readonly metric: string };
  }
}

export const image = describePanel<'image'>({
  kind: 'image',
  name: 'image',
  Panel: lazy(async () => (await import('./image_panel.tsx')).ImagePanel),
  parse(json) {
    const target = parseTarget(json.target);
    const metric = parseName(json.metric);
    return target && metric !== undefined ? { kind: 'image', target, metric } : undefined;
  },
  targets: ({ target }) => [target],
  title: ({ metric }, instances) => `${instances} \u00b7 ${metric}`,
  choices: [
    {
      name: 'image',
      label: 'Image',
      about: 'The newest image of a camera, and those of the past.',
      from: 'metrics',
      needs: 'an image',
      fits: ({ type }) => isBlob(type),
      build: (metrics) => metrics.map((picked) => ({ kind: 'image', ...picked })),
    },
  ],
});
