import { lazy } from '../../components/lazy.tsx';
import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { withoutTarget } from '../shared/expressions.ts';
import { parseName, parseTargets, present } from '../shared/parse.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** Records of all time; of all instances if none is named. */
    readonly logs: { readonly targets: readonly Target[]; readonly text?: string };
  }
}

export const logs = describePanel<'logs'>({
  kind: 'logs',
  name: 'log search',
  Panel: lazy(async () => (await import('./logs_panel.tsx')).LogsPanel),
  parse: (json) => ({
    kind: 'logs',
    targets: parseTargets(json.targets),
    ...present('text', parseName(json.text)),
  }),
  targets: ({ targets }) => targets,
  without: withoutTarget,
  choices: [
    {
      name: 'logs',
      label: 'Log search',
      about:
        'Log records and events of all time, by level, text and field. Without a choice, of all instances.',
      from: 'instances',
      build: (targets) => [{ kind: 'logs', targets }],
    },
  ],
});
