import type { ColumnBlock } from '../series/columns.ts';
import type { Histogram } from '../series/histogram.ts';
import type { RecordRow } from '../series/records.ts';
import type { Rose } from '../series/rose.ts';
import type { StateRun } from '../series/states.ts';
import type { GapCause } from './causes.ts';
import type { SampleView, Target } from './view.ts';

/** Queries of panels to the worker, and their answers. Times are milliseconds by the browser's clock. */

export type Range =
  | { readonly live: true; readonly span: number }
  | { readonly live: false; readonly from: number; readonly to: number };

export type Query = {
  readonly range: Range;
  /** Shows what was so many milliseconds before the range. */
  readonly ago?: number;
} & (
  | { readonly kind: 'columns'; readonly sources: readonly Source[]; readonly columns: number }
  | { readonly kind: 'states'; readonly sources: readonly Source[]; readonly columns: number }
  | {
      readonly kind: 'histogram';
      readonly source: Source;
      readonly of: 'values' | 'intervals';
      readonly bins: number;
    }
  | { readonly kind: 'rose'; readonly target: Target; readonly direction: string; readonly speed: string }
  | { readonly kind: 'records'; readonly targets: readonly Target[]; readonly limit: number }
  | { readonly kind: 'extent'; readonly target: Target }
  /** The sample that there was at the end of the range. */
  | { readonly kind: 'moment'; readonly target: Target }
);

/** Metrics of an instance, by name, and patterns for numbers within them (`axes[].position`). */
export interface Source {
  readonly target: Target;
  readonly metrics: readonly string[];
}

/** A span without samples, and its cause. */
export interface GapMark {
  readonly from: number;
  readonly to: number;
  readonly cause: GapCause;
  /** Samples missing. */
  readonly count: number;
}

export interface SourceColumns extends ColumnBlock {
  readonly key: string;
  /** Of a pattern, and the element of it that these columns are. */
  readonly part?: { readonly pattern: string; readonly label: string };
  readonly gaps: readonly GapMark[];
  /** If it reaches back beyond what is remembered: what the archive has of that. */
  readonly past?: PastPart;
}

/** How far a request to the archive is. */
export type ReadState = 'reading' | 'ready' | 'failed';

/** How far the archive's part of an answer is; `none` if the archive has nothing of it. */
export type PastState = 'none' | ReadState;

/** The part of a panel that comes from the archive. */
export interface PastPart {
  readonly state: PastState;
  /** What it is made from: `raw` samples, or roll-ups of so long a time. */
  readonly level?: string;
  /** Of each so many milliseconds it has one sample, or one state, and not all. */
  readonly step?: number;
  /** It has only so many samples, the newest ones. */
  readonly newest?: number;
  /** What is older is not there, milliseconds by the browser's clock. */
  readonly since?: number;
}

export interface StateTrack {
  readonly key: string;
  readonly metric: string;
  readonly runs: readonly StateRun[];
}

export interface RecordLine extends RecordRow {
  readonly key: string;
}

/** Least and greatest value of each metric that is a number, by name. */
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
  | ({ readonly kind: 'records'; readonly lines: readonly RecordLine[] } & FromPast)
  | { readonly kind: 'extent'; readonly extents: Extents }
  | {
      readonly kind: 'moment';
      readonly sample: SampleView | undefined;
      readonly state: PastState;
      readonly level?: string;
    };

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
