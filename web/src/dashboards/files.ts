import { fileName, saveFile } from '../charts/save_file.ts';
import { parseLayout } from '../layout/document.ts';
import { applyLayout, currentLayout } from '../layout/saved.ts';
import { dashboard } from '../state/dashboard.ts';
import { isFields, withinDepth } from '../wire/fields.ts';
import { kept } from './kept.ts';
import { defaultNode } from './open.ts';
import { isTemplate, withNode, withVariable } from './template.ts';

/** Saves the layout as a file, in the form that the DAC keeps. */
export function exportDashboard(): void {
  const { name = 'oasis-layout', node } = dashboard.peek() ?? {};
  const layout = { ...currentLayout() };
  const text = JSON.stringify(
    node === undefined ? layout : { ...withVariable(layout, node, kept.peek()), node },
    null,
    2,
  );
  saveFile(fileName(name, 'json'), new Blob([text], { type: 'application/json' }));
}

/** Shows the layout of a file; a template for the node that it was saved with. Returns whether it is a layout. */
export async function importDashboard(text: string): Promise<boolean> {
  const json = parsed(text);
  if (!isFields(json) || !parseLayout(json)) return false;
  const layout = parseLayout(isTemplate(json) ? withNode(json, await defaultNode(json)) : json);
  if (layout) applyLayout(layout);
  return layout !== undefined;
}

function parsed(text: string): unknown {
  try {
    return withinDepth(JSON.parse(text));
  } catch {
    return undefined;
  }
}
