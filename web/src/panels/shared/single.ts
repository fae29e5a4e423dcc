import type { FunctionComponent } from 'preact';
import type { ContentOf, PanelContent, SingleKind } from '../../state/panel_kinds.ts';
import { type AnyPanel, describePanel, type PanelDescription } from './description.ts';

/** Describes a panel of the whole page, which has no content. */
export function describeSingle<K extends SingleKind>(single: {
  readonly kind: K;
  readonly name: string;
  readonly about: string;
  readonly Panel: FunctionComponent<object>;
  readonly place?: PanelDescription<K>['place'];
}): AnyPanel {
  const { kind, name, about, Panel, place = 'bottom' } = single;
  const build = () => ({ kind }) as unknown as PanelContent;
  return describePanel<K>({
    kind,
    name,
    Panel,
    place,
    isSingle: true,
    parse: () => build() as unknown as ContentOf<K>,
    targets: () => [],
    choices: [{ name: kind, label: name, about, from: 'nothing', build }],
  });
}
