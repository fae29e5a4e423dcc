import type { Plan } from '../expressions/plan.ts';
import type { FleetAnswer, FleetLook, FleetSelection } from '../fleet/query.ts';
import type { PastState } from '../past/reads.ts';
import type { GapMark } from '../series/causes.ts';
import type { ColumnBlock } from '../series/columns.ts';
import type { Frame, KeptFrames } from '../series/frames.ts';
import type { Histogram } from '../series/histogram.ts';
import type { PoseTrack } from '../series/pose_track.ts';
import type { RecordRow } from '../series/records.ts';
import type { Rose } from '../series/rose.ts';
import type { Spectrogram } from '../series/spectrogram.ts';
import type { Spectrum } from '../series/spectrum.ts';
import type { StateRun } from '../series/states.ts';
import type { Figures } from '../series/statistics.ts';
import type { Trace } from '../series/trace.ts';
import type { Track } from '../series/track.ts';
import type { WindowName } from '../series/transform.ts';
import type { Target } from '../wire/target.ts';
import type { SampleView } from './view.ts';

/** Queries of panels to the worker, and their answers. Times are milliseconds by the browser's clock. */

export type Range =
  | { readonly live: true; readonly span: number }
  | { readonly live: false; readonly from: number; readonly to: number };

export type Query = {
  readonly range: Range;
  /** Moves the range so many milliseconds into the past. */
  readonly ago?: number;
} & (
  | {
      readonly kind: 'columns';
      readonly sources: readonly Source[];
      readonly columns: number;
      /** Computed lines, after those of the sources. */
      readonly expressions?: readonly Plan[];
    }
  | { readonly kind: 'states'; readonly sources: readonly Source[]; readonly columns: number }
  | {
      readonly kind: 'histogram';
      readonly source: Source;
      readonly of: 'values' | 'intervals';
      readonly bins: number;
    }
  | { readonly kind: 'rose'; readonly target: Target; readonly direction: string; readonly speed: string }
  | {
      readonly kind: 'records';
      readonly targets: readonly Target[];
      readonly limit: number;
      /** Only samples whose values contain all these words, in lower case. */
      readonly words?: readonly string[];
      /** Only samples with at least this value of a metric. */
      readonly atLeast?: { readonly metric: string; readonly value: number };
    }
  | { readonly kind: 'extent'; readonly target: Target }
  /** The last image at or before the end of the range. */
  | { readonly kind: 'frame'; readonly target: Target; readonly metric: string }
  /** The second expression over the first. */
  | { readonly kind: 'xy'; readonly expressions: readonly Plan[] }
  | {
      readonly kind: 'spectrum';
      readonly expressions: readonly Plan[];
      /** Samples of a transform. */
      readonly size: number;
      readonly window: WindowName;
      /** Whether the first expression is transformed at each of many times. */
      readonly isOverTime?: boolean;
    }
  | { readonly kind: 'statistics'; readonly expressions: readonly Plan[] }
  /** Places of instances over time. */
  | { readonly kind: 'tracks'; readonly tracks: readonly TrackPlans[] }
  /** Poses of instances over time. */
  | { readonly kind: 'poses'; readonly poses: readonly PosePlans[] }
  /** The last value of each expression. */
  | { readonly kind: 'latest'; readonly expressions: readonly Plan[] }
  /** The last sample of each line of a chart at or before the end of the range, in the order of its columns. */
  | {
      readonly kind: 'values';
      readonly sources: readonly Source[];
      readonly expressions?: readonly Plan[];
    }
  /** The last sample at or before the end of the range. */
  | {
      readonly kind: 'moment';
      readonly target: Target;
      /** The moment by the clock of the node: its estimated offset from other clocks changes all the time. */
      readonly nodeTime?: number;
      /** The time moves on: so many milliseconds are asked for next. */
      readonly ahead?: number;
    }
  /** Many instances at a glance, as they are now. */
  | { readonly kind: 'fleet'; readonly selection: FleetSelection; readonly look: FleetLook }
);

/** What a track on a map is computed from, in degrees. */
export interface TrackPlans {
  readonly longitude: Plan;
  readonly latitude: Plan;
  readonly heading?: Plan;
  readonly color?: Plan;
}

/** What a pose is computed from. */
export interface PosePlans {
  /** x, y and z. */
  readonly position: readonly Plan[];
  /** x, y, z and w of a quaternion. */
  readonly attitude?: readonly Plan[];
}

/** Metrics of an instance by name, or patterns for numbers within them (`axes[].position`). */
export interface Source {
  readonly target: Target;
  readonly metrics: readonly string[];
}

export interface SourceColumns extends ColumnBlock {
  /** Key of the instance; empty for an expression. */
  readonly key: string;
  /** The pattern, and the element of it that these columns show. */
  readonly part?: { readonly pattern: string; readonly label: string };
  readonly gaps: readonly GapMark[];
  /** The part that comes from the archive, if the range starts before the samples in memory. */
  readonly past?: PastPart;
}

/** The part of a panel that comes from the archive. */
export interface PastPart {
  readonly state: PastState;
  /** Source of the part: `raw` samples, or the length of the roll-ups. */
  readonly level?: string;
  /** The part has one sample, or one state, for each step of so many milliseconds. */
  readonly step?: number;
  /** The part has only so many samples, the newest ones. */
  readonly newest?: number;
  /** The part starts here; milliseconds by the browser's clock. */
  readonly since?: number;
}

export interface StateTrack {
  readonly key: string;
  readonly metric: string;
  readonly runs: readonly StateRun[];
  readonly gaps: readonly GapMark[];
}

export interface RecordLine extends RecordRow {
  readonly key: string;
}

/** Minimum and maximum of each numeric metric, by name. */
export type Extents = Readonly<Record<string, readonly [number, number]>>;

export type Answer =
  | {
      readonly kind: 'columns';
      readonly buffer: Float64Array<ArrayBuffer>;
      readonly blocks: readonly SourceColumns[];
    }
  | ({ readonly kind: 'states'; readonly tracks: readonly StateTrack[] } & FromPast)
  | ({ readonly kind: 'histogram'; readonly histogram: Histogram | undefined } & FromPast)
  | ({ readonly kind: 'rose'; readonly rose: Rose | undefined } & FromPast)
  | ({
      readonly kind: 'records';
      readonly lines: readonly RecordLine[];
      /** Samples of the time shown that were searched for words. */
      readonly searched: number;
    } & FromPast)
  | { readonly kind: 'extent'; readonly extents: Extents }
  | {
      readonly kind: 'frame';
      /** Its time is by the browser's clock. */
      readonly frame?: Frame;
      readonly state: PastState;
      readonly gaps: readonly GapMark[];
      /** The gap in which the end of the range lies; then the image is the last one before it. */
      readonly gap?: GapMark;
      /** Images in memory. */
      readonly kept?: KeptFrames;
    }
  | ({ readonly kind: 'xy'; readonly trace: Trace | undefined; readonly gaps: readonly GapMark[] } & FromPast)
  | ({
      readonly kind: 'spectrum';
      /** Undefined without enough single samples. */
      readonly spectra: readonly (Spectrum | undefined)[];
      readonly spectrogram?: Spectrogram | undefined;
      readonly gaps: readonly GapMark[];
    } & FromPast)
  | ({ readonly kind: 'statistics'; readonly rows: readonly StatisticsRow[] } & FromPast)
  | ({
      readonly kind: 'tracks';
      readonly tracks: readonly Track[];
      readonly gaps: readonly GapMark[];
    } & FromPast)
  | ({
      readonly kind: 'poses';
      readonly tracks: readonly PoseTrack[];
      readonly gaps: readonly GapMark[];
    } & FromPast)
  | ({
      readonly kind: 'latest';
      readonly values: readonly (Latest | undefined)[];
    } & FromPast)
  | { readonly kind: 'values'; readonly values: readonly (ValueAt | undefined)[] }
  | FleetAnswer
  | {
      readonly kind: 'moment';
      readonly sample: SampleView | undefined;
      readonly state: PastState;
      readonly level?: string;
      /** The gap in which the moment lies; then the sample is the last one before it. */
      readonly gap?: GapMark | undefined;
    };

/** A sample's value, and its time by the browser's clock. */
export interface ValueAt {
  readonly time: number;
  readonly value: number;
}

/** The last value; unknown (NaN) in a gap. */
export interface Latest extends ValueAt {
  readonly gap?: GapMark;
}

/** Figures of an expression in the time shown. */
export interface StatisticsRow extends Figures {
  /** From the first to the last sample. */
  readonly seconds: number;
  readonly gaps: readonly GapMark[];
}

interface FromPast {
  readonly past?: PastPart;
}

export type AnswerOf<K extends Answer['kind']> = Extract<Answer, { readonly kind: K }>;

export interface ViewResult {
  readonly id: number;
  readonly from: number;
  readonly to: number;
  readonly answer: Answer;
}
