import { notify } from '../../state/notice.ts';
import { entryOf } from '../../state/registry.ts';
import { readSchemas } from '../../state/schemas.ts';
import { schemaOfTarget } from '../../state/target_schema.ts';
import { strings } from '../../strings/strings.ts';
import { isFields } from '../../wire/fields.ts';
import type { Target } from '../../wire/target.ts';
import { parseName, parseTarget } from './parse.ts';

/** Metrics that are dragged from a list onto a chart. */

const TYPE = 'application/x-oasis-metric';

/** An instance, and one of its metrics if that was dragged. */
export interface Dragged {
  readonly target: Target;
  readonly metric?: string;
}

export function drag({ dataTransfer }: DragEvent, { node, instance }: Target, metric?: string): void {
  if (!dataTransfer) return;
  dataTransfer.setData(TYPE, JSON.stringify({ target: { node, instance }, metric }));
  dataTransfer.effectAllowed = 'copy';
}

/** Whether a metric is dragged. What it is can be read once it is dropped. */
export function isDragged({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes(TYPE) ?? false;
}

/** Reads what was dropped; any page may have written it. */
export function parseDragged(text: string): Dragged | undefined {
  try {
    const json: unknown = JSON.parse(text);
    const target = isFields(json) ? parseTarget(json.target) : undefined;
    const metric = isFields(json) ? parseName(json.metric) : undefined;
    return target && { target, ...(metric !== undefined && { metric }) };
  } catch {
    return undefined;
  }
}

/** Returns what was dropped once its metrics are known; says so if the DAC has no such instance. */
export async function readDropped({ dataTransfer }: DragEvent): Promise<Dragged | undefined> {
  const found = parseDragged(dataTransfer?.getData(TYPE) ?? '');
  const entry = found && entryOf(found.target);
  if (entry && !schemaOfTarget(found.target)) await readSchemas([entry]);
  if (entry && schemaOfTarget(found.target)) return found;
  notify(strings.panels.cannotAdd);
  return undefined;
}
