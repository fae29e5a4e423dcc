import { strings } from '../strings/strings.ts';
import { visible } from '../text/visible.ts';
import { nameOf } from './names.ts';
import { logicOf, type PanelSpec } from './panel_kinds.ts';

/** A panel of more instances says how many. */
const MAX_NAMES = 4;

/** Returns the title on a panel's tab. */
export function titleOf(spec: PanelSpec): string {
  return visible(('settings' in spec ? spec.settings?.title : undefined) ?? defaultTitle(spec));
}

/** Returns the title of a panel that nobody has given one. */
export function defaultTitle(spec: PanelSpec): string {
  const logic = logicOf(spec.kind);
  const names = [...new Set(logic.targets(spec).map(nameOf))];
  const instances = names.length > MAX_NAMES ? strings.panels.instances(names.length) : names.join(', ');
  if (logic.title) return logic.title(spec, instances);
  return instances === '' ? logic.name : `${instances} \u00b7 ${logic.name}`;
}
