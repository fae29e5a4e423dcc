import { targetsIn } from '../expressions/resolve.ts';
import type { FleetSettings } from '../fleet/settings.ts';
import type { Shape } from '../map/shapes.ts';
import { colorOf, type MapTrack } from '../map/tracks.ts';
import type { WindowName } from '../series/transform.ts';
import type { Source } from '../stream/query.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { valuesIn } from '../text/markdown.ts';
import type { PanelSettings } from './settings.ts';

/** The content of a panel, as plain data: it is saved, shared and exported. */

export type PanelSpec = { readonly id: string } & PanelContent;

/** The title of a chart beside the name of its instance, if it is shorter than the names of its metrics. */
interface Titled {
  readonly title?: string;
}

interface Settable {
  readonly settings?: PanelSettings;
}

export type PanelContent =
  /** Everything about one instance: newest sample, figures, commands, events. */
  | { readonly kind: 'instance'; readonly target: Target }
  /** Becomes the panel that suits the instance best once its schema is known. */
  | { readonly kind: 'auto'; readonly target: Target }
  | ({
      readonly kind: 'series';
      readonly sources: readonly Source[];
      readonly mode: SeriesMode;
      /** Computed lines, after those of the sources; each names the nodes of its instances. */
      readonly expressions?: readonly string[];
    } & Titled &
      Settable)
  | { readonly kind: 'states'; readonly sources: readonly Source[] }
  | ({ readonly kind: 'gauge'; readonly target: Target; readonly metric: string } & Settable)
  | { readonly kind: 'histogram'; readonly target: Target; readonly metric: string | null }
  | { readonly kind: 'events'; readonly targets: readonly Target[] }
  /** Records of all time; of all instances if none is named. */
  | { readonly kind: 'logs'; readonly targets: readonly Target[]; readonly text?: string }
  | { readonly kind: 'rose'; readonly target: Target; readonly direction: string; readonly speed: string }
  /** The second expression over the first. */
  | {
      readonly kind: 'xy';
      readonly expressions: readonly string[];
      readonly isEqual?: boolean;
      readonly isDots?: boolean;
      /** Seconds before the end of the time shown that are drawn; all of it without. */
      readonly trail?: number;
    }
  | {
      readonly kind: 'spectrum';
      readonly expressions: readonly string[];
      readonly size: number;
      readonly window: WindowName;
      readonly isDecibel?: boolean;
      readonly isLogarithmic?: boolean;
      /** Frequencies of the first expression over time. */
      readonly isOverTime?: boolean;
    }
  | { readonly kind: 'statistics'; readonly expressions: readonly string[] }
  | ({ readonly kind: 'number'; readonly expressions: readonly string[] } & Settable)
  /** Where instances were in the time shown. */
  | {
      readonly kind: 'map';
      readonly tracks: readonly MapTrack[];
      /** An expression of the first track, which colors all. */
      readonly color?: string;
      /** Seconds before the end of the time shown that are drawn; all of it without. */
      readonly trail?: number;
      /** Number of the track that stays in the middle. */
      readonly follow?: number;
      readonly shapes?: readonly Shape[];
      /** Address of pictures of the ground. */
      readonly tiles?: string;
    }
  /** The elements of a vector over time, with colors for their values. */
  | {
      readonly kind: 'heat';
      readonly target: Target;
      /** A pattern for the numbers within a vector. */
      readonly metric: string;
      readonly figure?: HeatFigure;
    }
  /** Spans of programs as trees. */
  | { readonly kind: 'traces'; readonly targets: readonly Target[]; readonly color?: TraceColor }
  /** The answer of a query over the archive, as a table or a drawing. */
  | {
      readonly kind: 'sql';
      readonly query: string;
      readonly isDrawn?: boolean;
      /** Seconds between two runs; by hand without. */
      readonly every?: number;
    }
  /** Markdown with values in it. */
  | { readonly kind: 'text'; readonly text: string }
  /** A metric in spans of time that begin at the same place. Milliseconds by the clock of the DAC. */
  | {
      readonly kind: 'overlay';
      readonly target: Target;
      readonly metric: string;
      readonly runs: readonly OverlaidRun[];
      /** Whether all are as wide as the first. */
      readonly isScaled?: boolean;
    }
  /** Many nodes or instances at a glance. */
  | ({ readonly kind: 'fleet' } & FleetSettings)
  | { readonly kind: 'ledger' }
  | { readonly kind: 'alarms' }
  | { readonly kind: 'alarm-history' }
  | { readonly kind: 'rules' }
  | { readonly kind: 'test-runs' };

/** A test run, or another span of time. */
export interface OverlaidRun {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** A panel that has settings of its own. */
export type SettablePanel = Extract<PanelSpec, Settable>;

export function isSettable(spec: PanelContent): spec is SettablePanel {
  return 'id' in spec && (spec.kind === 'series' || spec.kind === 'gauge' || spec.kind === 'number');
}
/** Seconds between two runs of a query; 0 is by hand. */
export const SQL_PERIODS: readonly number[] = [0, 5, 15, 60, 300];
/** Most characters of a query in a layout. */
export const MAX_SQL = 10_000;

/** What the colors of spans stand for. */
export const TRACE_COLORS = ['target', 'node', 'thread'] as const;
export type TraceColor = (typeof TRACE_COLORS)[number];

/** Which value of each column of pixels is the color. */
export const HEAT_FIGURES = ['max', 'min', 'last'] as const;
export type HeatFigure = (typeof HEAT_FIGURES)[number];

/** Most expressions in a panel. */
export const MAX_EXPRESSIONS = 10;

/** Lengths of the trail of an XY panel in seconds; 0 is all of the time shown. */
export const TRAILS: readonly number[] = [0, 2, 5, 10, 30, 60, 300];

/** Panels of the whole page: one of each is enough. */
export const SINGLES = ['ledger', 'alarms', 'alarm-history', 'rules', 'test-runs'] as const;
export type SingleKind = (typeof SINGLES)[number];

export function isSingle(kind: PanelKind): kind is SingleKind {
  return (SINGLES as readonly string[]).includes(kind);
}

export type PanelKind = PanelContent['kind'];
/** `shares`: each value as a share of the sum of all, stacked. */
export type SeriesMode = 'lines' | 'shares';

export function targetsOf(content: PanelContent): readonly Target[] {
  switch (content.kind) {
    case 'series':
      return [
        ...content.sources.map(({ target }) => target),
        ...(content.expressions ?? []).flatMap((text) => targetsIn(text)),
      ];
    case 'states':
      return content.sources.map(({ target }) => target);
    case 'events':
    case 'logs':
    case 'traces':
      return content.targets;
    case 'xy':
    case 'spectrum':
    case 'statistics':
    case 'number':
      return content.expressions.flatMap((text) => targetsIn(text));
    case 'map':
      return [...content.tracks.map(({ target }) => target), ...colorsOf(content).flatMap(targetsIn)];
    case 'text':
      return valuesIn(content.text).flatMap((text) => targetsIn(text));
    case 'fleet':
    case 'ledger':
    case 'alarms':
    case 'alarm-history':
    case 'rules':
    case 'test-runs':
    case 'sql':
      return [];
    default:
      return [content.target];
  }
}

/** Returns the panel without an instance that is no longer watched; nothing if no other is left. */
export function without(spec: PanelSpec, target: Target): PanelSpec | undefined {
  const key = keyOf(target);
  if (!targetsOf(spec).some((other) => keyOf(other) === key)) return spec;
  switch (spec.kind) {
    case 'series': {
      const sources = spec.sources.filter((source) => keyOf(source.target) !== key);
      const expressions = (spec.expressions ?? []).filter((text) => !uses(text, key));
      if (sources.length + expressions.length === 0) return undefined;
      return { ...spec, sources, ...(spec.expressions && { expressions }) };
    }
    case 'states': {
      const sources = spec.sources.filter((source) => keyOf(source.target) !== key);
      return sources.length === 0 ? undefined : { ...spec, sources };
    }
    case 'map': {
      const tracks = spec.tracks.filter((track) => keyOf(track.target) !== key);
      const { color, follow: _, ...rest } = spec;
      if (tracks.length === 0) return undefined;
      // The color is one of the first track.
      const isKept = color !== undefined && !uses(color, key);
      return { ...rest, tracks, ...(isKept && { color }) };
    }
    case 'xy':
      return undefined;
    case 'spectrum':
    case 'statistics':
    case 'number': {
      const expressions = spec.expressions.filter((text) => !uses(text, key));
      return expressions.length === 0 ? undefined : { ...spec, expressions };
    }
    // Text of the user stays.
    case 'text':
      return spec;
    case 'logs':
    case 'events':
    case 'traces': {
      const targets = spec.targets.filter((other) => keyOf(other) !== key);
      return targets.length === 0 ? undefined : { ...spec, targets };
    }
    default:
      return undefined;
  }
}

function uses(text: string, key: string): boolean {
  return targetsIn(text).some((target) => keyOf(target) === key);
}

/** The expressions that color the tracks of a map, in their order; empty without. */
export function colorsOf({ tracks, color }: Extract<PanelContent, { kind: 'map' }>): string[] {
  return color === undefined ? [] : tracks.map((track) => colorOf(color, tracks, track));
}
