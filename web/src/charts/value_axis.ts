import type uPlot from 'uplot';
import type { FigureLook } from '../format/axis.ts';
import { type Ticks, tickLabels } from '../format/tick_labels.ts';
import { byteSize } from '../format/unit.ts';
import type { ValueScale } from '../series/value_scale.ts';
import { CHARACTER } from './axes.ts';
import type { Palette } from './palette.ts';
import { axisLook } from './plot_options.ts';
import { valueTicks } from './value_ticks.ts';

/**
 * A scale of uPlot with shares of an axis instead of values. uPlot ignores ranges below 1e-16, overflows in ranges of
 * denormal numbers and in the widest ones, and its steps begin at 1e-32 and end at 1e32.
 */
export const SHARES: uPlot.Scale = { time: false, auto: false, range: () => [0, 1] };

export interface ValueAxis {
  /** Name of a scale of {@link SHARES}. */
  readonly key: string;
  /** Least distance of two ticks, in CSS pixels. */
  readonly space: number;
  readonly look: FigureLook;
  /** Returns the present scale; another one is another object. */
  scale(): ValueScale;
}

/** Returns the ticks of an axis and their labels. */
export function valueAxis({ key, space, look, scale }: ValueAxis, palette: Palette): uPlot.Axis {
  const bytes = look.isUnitFixed ? undefined : byteSize(look.unit);
  let known: { readonly scale: ValueScale; readonly room: number; readonly ticks: Ticks } | undefined;
  const ticksIn = (room: number): Ticks => {
    const present = scale();
    if (known?.scale !== present || known.room !== room)
      known = { scale: present, room, ticks: valueTicks(present, room, bytes) };
    return known.ticks;
  };
  return {
    ...axisLook(palette),
    scale: key,
    space,
    // The distance of two steps of its own says how many pixels the axis has.
    splits: (_, __, ___, ____, step, pixels) =>
      ticksIn((space * step) / pixels).ticks.map(({ share }) => share),
    values: () => (known ? tickLabels(known.ticks, look) : []),
  };
}

/** Returns the width of an axis in CSS pixels, for labels of at least so many characters. */
export function axisWidth(labels: readonly string[] | null, palette: Palette, least: number): number {
  return 14 + CHARACTER * palette.size * Math.max(least, ...(labels ?? []).map((text) => text.length));
}
