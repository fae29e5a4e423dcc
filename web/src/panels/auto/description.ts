import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { parseTarget } from '../shared/parse.ts';
import { AutoPanel } from './auto_panel.tsx';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** Becomes the panel that suits the instance best once its schema is known. */
    readonly auto: { readonly target: Target };
  }
}

export const auto = describePanel<'auto'>({
  kind: 'auto',
  // Most become charts.
  name: 'chart',
  Panel: AutoPanel,
  parse(json) {
    const target = parseTarget(json.target);
    return target && { kind: 'auto', target };
  },
  targets: ({ target }) => [target],
});
