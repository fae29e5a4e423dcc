import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { parseTarget } from '../shared/parse.ts';
import { InstancePanel } from './instance_panel.tsx';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** Everything about one instance: newest sample, figures, commands, events. */
    readonly instance: { readonly target: Target };
  }
}

export const instance = describePanel<'instance'>({
  kind: 'instance',
  name: 'values',
  Panel: InstancePanel,
  place: 'row',
  parse(json) {
    const target = parseTarget(json.target);
    return target && { kind: 'instance', target };
  },
  targets: ({ target }) => [target],
  title: (_, instances) => instances,
  choices: [
    {
      name: 'values',
      label: 'Values',
      about: 'The newest sample of an instance, with commands.',
      from: 'instances',
      build: (targets) => targets.map((target) => ({ kind: 'instance', target })),
    },
  ],
});
