import type { Fleets } from '../fleet/fleets.ts';
import type { ArchiveReader } from '../past/archive_reader.ts';
import type { GapMark } from '../series/causes.ts';
import type { Target } from '../wire/target.ts';
import type { Watch } from './watch.ts';

/** Gives access to the watched instances, and to the clock offsets of their nodes. */
export interface DataSource {
  watch(target: Target): Watch | undefined;
  /** Browser clock minus node clock, milliseconds. */
  lag(node: string): number;
  /** Tells the times in which a probe was disabled from those in which it was silent; by the node's clock. */
  explain(target: Target, gaps: readonly GapMark[]): readonly GapMark[];
  /** Loaded when a panel shows one. */
  readonly fleets?: Pick<Fleets, 'answer' | 'versionOf'>;
  readonly archive: Pick<ArchiveReader, 'read' | 'readNewest' | 'timesOf' | 'closeView' | 'version'>;
}

/** What a view is answered from, and the time that it shows. */
export interface Scene extends DataSource {
  /** Number of the view. */
  readonly view: number;
  /** Milliseconds by the browser's clock. */
  readonly from: number;
  readonly to: number;
  readonly isLive: boolean;
  readonly now: number;
}
