import type { Limit } from '../../charts/draw_marks.ts';

/** How somebody wants a panel to look. What is absent is chosen by the page. */
export interface PanelSettings {
  /** The name on its tab. */
  readonly title?: string;
  /** Unit of the values, in UCUM. */
  readonly unit?: string;
  /** Digits after the point. */
  readonly decimals?: number;
  /** Ends of the axis, in the shown unit. */
  readonly min?: number;
  readonly max?: number;
  readonly isLogarithmic?: true;
  /** Numbers of colors, by the identifiers of lines. */
  readonly colors?: Readonly<Record<string, number>>;
  /** They replace the limits of the metrics. */
  readonly thresholds?: readonly Threshold[];
}

/** Values beyond it are a warning or an alarm, in this panel only. */
export interface Threshold {
  /** In the shown unit. */
  readonly value: number;
  readonly severity: Limit['severity'];
  readonly side: 'above' | 'below';
  /** Whether the side is colored, beside the line. */
  readonly isZone?: true;
}

export const MAX_DECIMALS = 8;
export const MAX_THRESHOLDS = 8;
export const MAX_COLORED = 100;

/** Returns how thresholds judge a value in the shown unit: the worst. */
export function judgeBy(thresholds: readonly Threshold[], value: number): Limit['severity'] | undefined {
  const passed = thresholds.filter((limit) =>
    limit.side === 'above' ? value > limit.value : value < limit.value,
  );
  return passed.find(({ severity }) => severity === 'alarm')?.severity ?? passed[0]?.severity;
}
