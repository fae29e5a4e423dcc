import { parsePanel } from '../panels/descriptions.ts';
import { isTime, parseName, present } from '../panels/shared/parse.ts';
import { type Annotation, MAX_ANNOTATIONS, MAX_NOTE } from '../state/annotations.ts';
import type { PanelSpec } from '../state/panel_kinds.ts';
import type { Range } from '../stream/query.ts';
import { isFields, valuesOf } from '../wire/fields.ts';
import { type Geometry, parseGeometry } from './geometry.ts';

/** A layout as saved, shared and exported. */
export interface LayoutDocument {
  readonly oasis: 'layout';
  readonly version: 1;
  readonly panels: readonly PanelSpec[];
  readonly geometry?: Geometry;
  readonly range?: Range;
  /** Milliseconds back to the time that is drawn over the shown one; absent for none. */
  readonly ago?: number;
  readonly annotations?: readonly Annotation[];
}

const MAX_PANELS = 200;

/** Parses an untrusted layout without its invalid parts; undefined if it is not a layout. */
export function parseLayout(json: unknown): LayoutDocument | undefined {
  if (!isFields(json) || json.oasis !== 'layout' || json.version !== 1 || !Array.isArray(json.panels))
    return undefined;
  const panels = json.panels.slice(0, MAX_PANELS).flatMap((entry) => parsePanel(entry) ?? []);
  const ids = new Set(panels.map(({ id }) => id));
  if (ids.size !== panels.length) return undefined;
  return {
    oasis: 'layout',
    version: 1,
    panels,
    ...present('geometry', parseGeometry(json.geometry, ids)),
    ...present('range', parseRange(json.range)),
    ...present('ago', isTime(json.ago) && json.ago > 0 ? json.ago : undefined),
    annotations: parseAnnotations(json.annotations),
  };
}

function parseRange(json: unknown): Range | undefined {
  if (!isFields(json)) return undefined;
  const { span, from, to } = json;
  if (json.live === true && isTime(span) && span > 0) return { live: true, span };
  return isTime(from) && isTime(to) && from < to ? { live: false, from, to } : undefined;
}

function parseAnnotations(json: unknown): Annotation[] {
  return valuesOf(json)
    .slice(0, MAX_ANNOTATIONS)
    .flatMap((entry) => {
      if (!isFields(entry)) return [];
      const note = parseName(entry.text);
      if (!isTime(entry.time) || note === undefined) return [];
      const span = isTime(entry.until) && entry.until > entry.time ? { until: entry.until } : {};
      return [{ time: entry.time, text: note.slice(0, MAX_NOTE), ...span }];
    });
}
