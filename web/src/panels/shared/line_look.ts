import type { Limit } from '../../charts/draw_marks.ts';
import { SERIES_COLORS } from '../../charts/palette.ts';
import { type Conversion, conversion, convert } from '../../expressions/convert.ts';
import type { DescribedLine } from './lines.ts';
import type { PanelSettings } from './settings.ts';

/** Returns the lines as the settings want them; a line whose unit does not convert keeps its own. */
export function withSettings(
  lines: readonly DescribedLine[],
  settings: PanelSettings | undefined,
): DescribedLine[] {
  if (!settings) return [...lines];
  const { unit, decimals, colors } = settings;
  return lines.map((line) => {
    const color = line.id === undefined ? undefined : colors?.[line.id];
    const found = unit === undefined ? undefined : conversionOf(line, unit);
    return {
      ...line,
      ...(color !== undefined && { color: color % SERIES_COLORS }),
      ...(decimals !== undefined && { decimals }),
      ...(found && {
        unit,
        nativeUnit: line.unit,
        isUnitFixed: true,
        conversion: found,
      }),
    };
  });
}

/** A rate has no zero of its own: a change of a temperature is in kelvins. */
function conversionOf({ unit, isCounter }: DescribedLine, wanted: string): Conversion | undefined {
  const found = conversion(unit, wanted);
  return found && isCounter ? { ...found, offset: 0 } : found;
}

/** Returns the limits to draw: thresholds, or else those of the metrics. */
export function limitsFor(lines: readonly DescribedLine[], settings: PanelSettings | undefined): Limit[] {
  const { thresholds } = settings ?? {};
  if (thresholds) {
    return thresholds.map(({ value, severity, side, isZone }) => ({
      value,
      severity,
      ...(isZone && { zone: side }),
    }));
  }
  return lines.length <= 3 ? lines.flatMap(inShownUnit) : [];
}

function inShownUnit({ limits, conversion }: DescribedLine): Limit[] {
  return limits.map((limit) => (conversion ? { ...limit, value: convert(limit.value, conversion) } : limit));
}
