import { parseKnown } from '../expressions/resolve.ts';
import { type Fields, isFields } from '../fields.ts';
import { parseFleet } from '../fleet/settings.ts';
import { parseShapes } from '../map/shapes.ts';
import { isTileAddress } from '../map/tile_address.ts';
import { MAX_TRACKS, type MapTrack } from '../map/tracks.ts';
import {
  HEAT_FIGURES,
  MAX_EXPRESSIONS,
  MAX_SQL,
  type OverlaidRun,
  type PanelContent,
  type PanelSpec,
  type SeriesMode,
  SQL_PERIODS,
  TRACE_COLORS,
  TRAILS,
} from '../panels/spec.ts';
import { DEFAULT_SIZE, SIZES } from '../series/spectrum.ts';
import { windowNames } from '../series/transform.ts';
import { type Annotation, MAX_ANNOTATIONS, MAX_NOTE } from '../state/annotations.ts';
import type { Range, Source } from '../stream/query.ts';
import type { Target } from '../stream/view.ts';
import { MAX_MARKDOWN } from '../text/markdown.ts';
import { type Geometry, parseGeometry } from './geometry.ts';
import { parseSettings } from './panel_settings.ts';

/** A layout as saved, shared and exported. */
export interface LayoutDocument {
  readonly oasis: 'layout';
  readonly version: 1;
  readonly panels: readonly PanelSpec[];
  readonly geometry?: Geometry;
  readonly range?: Range;
  readonly annotations?: readonly Annotation[];
}

const MAX_PANELS = 200;
const MAX_METRICS = 100;
const MAX_NAME_LENGTH = 1024;
/** Latest date that the date fields accept. */
const LAST_DAY = Date.UTC(9999, 11, 31);

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
    annotations: parseAnnotations(json.annotations),
  };
}

function parsePanel(json: unknown): PanelSpec | undefined {
  if (!isFields(json)) return undefined;
  const id = text(json.id);
  const content = parseContent(json);
  return !id || content === undefined ? undefined : { id, ...content };
}

function parseContent(json: Fields): PanelContent | undefined {
  const target = parseTarget(json.target);
  switch (json.kind) {
    case 'instance':
    case 'auto':
      return target && { kind: json.kind, target };
    case 'series':
      return parseSeries(json);
    case 'states':
      return withSources(json, (sources) => ({ kind: 'states', sources }));
    case 'gauge': {
      const metric = text(json.metric);
      return target && metric !== undefined
        ? { kind: 'gauge', target, metric, ...settingsIn(json) }
        : undefined;
    }
    case 'histogram':
      return target && { kind: 'histogram', target, metric: text(json.metric) ?? null };
    case 'events': {
      const targets = list(json.targets).flatMap((entry) => parseTarget(entry) ?? []);
      return targets.length > 0 ? { kind: 'events', targets } : undefined;
    }
    case 'logs':
      return {
        kind: 'logs',
        targets: list(json.targets).flatMap((entry) => parseTarget(entry) ?? []),
        ...present('text', text(json.text)),
      };
    case 'rose': {
      const [direction, speed] = [text(json.direction), text(json.speed)];
      return target && direction !== undefined && speed !== undefined
        ? { kind: 'rose', target, direction, speed }
        : undefined;
    }
    case 'xy': {
      const expressions = parseExpressions(json.expressions).slice(0, 2);
      const flags = {
        ...flag('isEqual', json.isEqual),
        ...flag('isDots', json.isDots),
        ...present('trail', parseTrail(json.trail)),
      };
      return expressions.length === 2 ? { kind: 'xy', expressions, ...flags } : undefined;
    }
    case 'spectrum':
      return parseSpectrum(json);
    case 'statistics':
    case 'number': {
      const expressions = parseExpressions(json.expressions);
      if (expressions.length === 0) return undefined;
      const { kind } = json;
      return kind === 'number' ? { kind, expressions, ...settingsIn(json) } : { kind, expressions };
    }
    case 'sql': {
      if (typeof json.query !== 'string') return undefined;
      const every = SQL_PERIODS.find((seconds) => seconds > 0 && seconds === json.every);
      const query = json.query.slice(0, MAX_SQL);
      return { kind: 'sql', query, ...flag('isDrawn', json.isDrawn), ...present('every', every) };
    }
    case 'traces': {
      const targets = list(json.targets).flatMap((entry) => parseTarget(entry) ?? []);
      const color = TRACE_COLORS.find((name) => name === json.color);
      return targets.length > 0 ? { kind: 'traces', targets, ...present('color', color) } : undefined;
    }
    case 'heat': {
      const metric = text(json.metric);
      const figure = HEAT_FIGURES.find((name) => name === json.figure);
      return target && metric !== undefined
        ? { kind: 'heat', target, metric, ...present('figure', figure) }
        : undefined;
    }
    case 'map':
      return parseMap(json);
    case 'text':
      return typeof json.text === 'string'
        ? { kind: 'text', text: json.text.slice(0, MAX_MARKDOWN) }
        : undefined;
    case 'overlay':
      return parseOverlay(json, target);
    case 'fleet':
      return { kind: 'fleet', ...parseFleet(json) };
    case 'ledger':
    case 'alarms':
    case 'alarm-history':
    case 'rules':
    case 'test-runs':
      return { kind: json.kind };
    default:
      return undefined;
  }
}

function parseSeries(json: Fields): PanelContent | undefined {
  const sources = list(json.sources).flatMap((entry) => parseSource(entry) ?? []);
  const mode = parseMode(json.mode);
  const expressions = mode === 'lines' ? parseExpressions(json.expressions) : [];
  if (sources.length + expressions.length === 0) return undefined;
  return {
    kind: 'series',
    sources,
    mode,
    ...(expressions.length > 0 && { expressions }),
    ...present('title', text(json.title)),
    ...settingsIn(json),
  };
}

function parseOverlay(json: Fields, target: Target | undefined): PanelContent | undefined {
  const metric = text(json.metric);
  const runs = list(json.runs)
    .slice(0, 2)
    .flatMap((run): OverlaidRun[] => {
      if (!isFields(run)) return [];
      const [name, { from, to }] = [text(run.name), run];
      return name !== undefined && isTime(from) && isTime(to) && from < to ? [{ name, from, to }] : [];
    });
  if (!target || metric === undefined || runs.length !== 2) return undefined;
  return { kind: 'overlay', target, metric, runs, ...flag('isScaled', json.isScaled) };
}

function parseSpectrum(json: Fields): PanelContent | undefined {
  const expressions = parseExpressions(json.expressions);
  if (expressions.length === 0) return undefined;
  return {
    kind: 'spectrum',
    expressions,
    size: SIZES.find((size) => size === json.size) ?? DEFAULT_SIZE,
    window: windowNames.find((name) => name === json.window) ?? 'hann',
    ...flag('isDecibel', json.isDecibel),
    ...flag('isLogarithmic', json.isLogarithmic),
    ...flag('isOverTime', json.isOverTime),
  };
}

function parseMap(json: Fields): PanelContent | undefined {
  const tracks = list(json.tracks)
    .slice(0, MAX_TRACKS)
    .flatMap((entry) => parseTrack(entry) ?? []);
  const [color] = parseExpressions([json.color]);
  if (tracks.length === 0) return undefined;
  return {
    kind: 'map',
    tracks,
    ...present('color', color),
    ...present('trail', parseTrail(json.trail)),
    ...present(
      'follow',
      [...tracks.keys()].find((index) => index === json.follow),
    ),
    ...present('shapes', parseShapes(json.shapes)),
    ...present('tiles', isTileAddress(json.tiles) ? json.tiles : undefined),
  };
}

function parseTrack(json: unknown): MapTrack | undefined {
  if (!isFields(json)) return undefined;
  const target = parseTarget(json.target);
  const [latitude, longitude] = [text(json.latitude), text(json.longitude)];
  if (!target || latitude === undefined || longitude === undefined) return undefined;
  return { target, latitude, longitude, ...present('heading', text(json.heading)) };
}

function parseTrail(json: unknown): number | undefined {
  return TRAILS.find((seconds) => seconds > 0 && seconds === json);
}

function parseExpressions(json: unknown): string[] {
  return list(json)
    .slice(0, MAX_EXPRESSIONS)
    .flatMap((entry) => (typeof entry === 'string' && parseKnown(entry) ? entry : []));
}

function settingsIn({ settings }: Fields) {
  return present('settings', parseSettings(settings));
}

function withSources(
  json: Fields,
  make: (sources: readonly Source[]) => PanelContent,
): PanelContent | undefined {
  const sources = list(json.sources).flatMap((entry) => parseSource(entry) ?? []);
  return sources.length > 0 ? make(sources) : undefined;
}

function parseSource(json: unknown): Source | undefined {
  if (!isFields(json)) return undefined;
  const target = parseTarget(json.target);
  const metrics = list(json.metrics)
    .slice(0, MAX_METRICS)
    .flatMap((metric) => text(metric) ?? []);
  return target && metrics.length > 0 ? { target, metrics } : undefined;
}

function parseTarget(json: unknown): Target | undefined {
  if (!isFields(json)) return undefined;
  const [node, instance] = [text(json.node), text(json.instance)];
  return node !== undefined && instance !== undefined ? { node, instance } : undefined;
}

function parseMode(json: unknown): SeriesMode {
  return json === 'shares' ? 'shares' : 'lines';
}

export function parseRange(json: unknown): Range | undefined {
  if (!isFields(json)) return undefined;
  const { span, from, to } = json;
  if (json.live === true && isTime(span) && span > 0) return { live: true, span };
  return isTime(from) && isTime(to) && from < to ? { live: false, from, to } : undefined;
}

function parseAnnotations(json: unknown): Annotation[] {
  return list(json)
    .slice(0, MAX_ANNOTATIONS)
    .flatMap((entry) => {
      if (!isFields(entry)) return [];
      const note = text(entry.text);
      if (!isTime(entry.time) || note === undefined) return [];
      const span = isTime(entry.until) && entry.until > entry.time ? { until: entry.until } : {};
      return [{ time: entry.time, text: note.slice(0, MAX_NOTE), ...span }];
    });
}

function list(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : [];
}

function text(json: unknown): string | undefined {
  return typeof json === 'string' && json.length <= MAX_NAME_LENGTH ? json : undefined;
}

/** Whether a number is a valid time in milliseconds since 1970, or a span of at most that length. */
function isTime(json: unknown): json is number {
  return typeof json === 'number' && Math.abs(json) <= LAST_DAY;
}

function flag<K extends string>(key: K, value: unknown): { [key in K]?: true } {
  return value === true ? ({ [key]: true } as { [key in K]?: true }) : {};
}

function present<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: V });
}
