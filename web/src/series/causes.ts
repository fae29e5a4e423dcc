import { type Cause, lossCause } from '@oasis/wire';

/**
 * Interruptions that only the page sees; no sample is missing. `no_value` is of expressions. Causes of loss are those of
 * docs/reference/loss.md.
 */
export type Interruption = 'reconnected' | 'disabled' | 'node_offline' | 'silent' | 'no_value';

/** The cause of a gap or an interruption. A newer DAC may have causes that this page does not know. */
export type GapCause = Cause | Interruption | (string & {});

/** How serious gaps are, least serious first: samples nobody lost, nothing missing, samples lost, samples lost for no known reason. */
const SEVERITIES = ['expected', 'interruption', 'loss', 'unexplained'] as const;
export type GapSeverity = (typeof SEVERITIES)[number];

/** Returns how serious a gap of `count` samples is. An unknown cause counts as a loss. */
export function severityOf(cause: GapCause, count: number): GapSeverity {
  if (cause === 'unexplained') return 'unexplained';
  if (lossCause(cause)?.isLoss === false) return 'expected';
  return count > 0 ? 'loss' : 'interruption';
}

/** Returns the more serious of two; `severity` if `before` is undefined. */
export function worseOf(before: GapSeverity | undefined, severity: GapSeverity): GapSeverity {
  return before && SEVERITIES.indexOf(before) > SEVERITIES.indexOf(severity) ? before : severity;
}

/** A span without samples, and its cause. */
export interface GapMark {
  readonly from: number;
  readonly to: number;
  readonly cause: GapCause;
  /** Missing samples. */
  readonly count: number;
  /** Whether no sample has come yet to end it: it lasts until now. */
  readonly isLasting?: boolean;
}
