import { lazy } from '../../components/lazy.tsx';
import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { withoutTarget } from '../shared/expressions.ts';
import { parseTargets } from '../shared/parse.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly events: { readonly targets: readonly Target[] };
  }
}

export const events = describePanel<'events'>({
  kind: 'events',
  name: 'events',
  Panel: lazy(async () => (await import('./events_panel.tsx')).EventsPanel),
  parse(json) {
    const targets = parseTargets(json.targets);
    return targets.length > 0 ? { kind: 'events', targets } : undefined;
  },
  targets: ({ targets }) => targets,
  without: withoutTarget,
  choices: [
    {
      name: 'events',
      label: 'Events',
      about: 'A list of samples.',
      from: 'instances',
      build: (targets) => (targets.length === 0 ? [] : [{ kind: 'events', targets }]),
    },
  ],
});
