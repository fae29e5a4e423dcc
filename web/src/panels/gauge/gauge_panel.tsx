import { judge, type Meaning, type Metric } from '@oasis/wire';
import { useEffect, useRef } from 'preact/hooks';
import { withEnds } from '../../charts/scale_range.ts';
import { causeOf } from '../../components/gap_words.ts';
import { MomentNote } from '../../components/moment_note.tsx';
import { useShown } from '../../components/use_shown.ts';
import { Waiting } from '../../components/waiting.tsx';
import { type Conversion, conversion, convert } from '../../expressions/convert.ts';
import { type FigureLook, formatFigure } from '../../format/axis.ts';
import { formatWithin } from '../../format/tick_labels.ts';
import { finite, ValueScale } from '../../series/value_scale.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { cellsOf } from '../../state/store.ts';
import { registerPicture } from '../shared/exports.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { judgeBy, type PanelSettings, type Threshold } from '../shared/settings.ts';
import { dialRange } from './dial_range.ts';

type Spec = SpecOf<'gauge'>;

/** The scale runs over three quarters of a circle. */
const START = -225;
const SWEEP = 270;
const RADIUS = 80;
/** Font size of a text of one letter that is as wide as the dial. */
const ROOM = 260;

/** A value on a dial, with its limits. */
export function GaugePanel({ spec }: { spec: Spec }) {
  const drawing = useRef<SVGSVGElement>(null);
  useEffect(
    () => registerPicture(spec.id, { svg: () => drawing.current, units: () => [unitOf(spec)] }),
    [spec],
  );
  const cells = cellsOf(spec.target);
  const metrics = cells.status.value?.schema?.metrics ?? [];
  const index = metrics.findIndex(({ name }) => name === spec.metric);
  const metric = metrics[index];
  const shown = useShown(spec.target, cells).value;
  const raw = Number(
    (shown.gap && !shown.gap.isLasting ? undefined : shown.sample?.values[index]) ?? Number.NaN,
  );
  if (!metric) return <Waiting target={spec.target} />;
  const look = lookOf(metric, spec.settings);
  const value = look.conversion ? convert(raw, look.conversion) : raw;
  const { thresholds } = spec.settings ?? {};
  const [min, max] = rangeOf(metric, raw, look, spec.settings);
  // Around an infinite value alone there is no range.
  const { min: least, max: most, warn, alarm } = metric;
  const bounds = [least, most, warn, alarm, spec.settings?.min, spec.settings?.max];
  const hasEnds = Number.isFinite(raw) || bounds.some((bound) => bound !== undefined);
  const severity = thresholds ? judgeBy(thresholds, value) : judge(metric, raw)?.severity;
  const scale = new ValueScale(min, max);
  // An infinite value is at its end of the dial.
  const share = Math.min(1, Math.max(0, scale.share(value)));
  const text = formatFigure(value, look);
  return (
    <section class="panel" data-testid="gauge" data-panel={spec.id} data-severity={severity}>
      <svg
        class="dial"
        viewBox="-110 -105 220 190"
        ref={drawing}
        role="img"
        aria-label={`${spec.metric}: ${text}`}
      >
        <title>
          {[shown.gap && causeOf(shown.gap), metric.doc ?? metric.name].filter(Boolean).join('\n')}
        </title>
        <path class="dial-track" d={arc(0, 1, RADIUS)} />
        {zones(limitsOf(metric, look, thresholds), scale).map(({ from, to, tone }) => (
          <path key={`${tone}${from}`} class={`dial-zone is-${tone}`} d={arc(from, to, RADIUS + 13)} />
        ))}
        {Number.isFinite(share) && (
          <path
            class={`dial-value ${severity ? `is-${severity}` : ''}`}
            d={arc(0, Math.max(0.002, share), RADIUS)}
          />
        )}
        <text class="dial-text" x="0" y="6" style={{ fontSize: `${Math.min(25, ROOM / text.length)}px` }}>
          {text}
        </text>
        <text class="dial-name" x="0" y="30">
          {metric.label ?? metric.name}
        </text>
        {[min, max].map((end, side) => (
          <text key={side} class="dial-end" x={124 * side - 62} y="78">
            {hasEnds && formatWithin(end, [min, max], undefined)}
          </text>
        ))}
      </svg>
      <MomentNote shown={shown} cells={cells} />
      {shown.gap && shown.at === undefined && <p class="moment-note">{causeOf(shown.gap)}</p>}
      <PanelFooter spec={spec} />
    </section>
  );
}

/** The unit of the samples. */
function unitOf({ target, metric }: Spec): string | undefined {
  return cellsOf(target)
    .status.peek()
    ?.schema?.metrics.find(({ name }) => name === metric)?.unit;
}

interface DialLook extends FigureLook {
  readonly conversion?: Conversion;
}

/** Unit and decimals of a metric, as the settings want them. */
function lookOf({ unit }: Metric, settings: PanelSettings | undefined): DialLook {
  const { unit: wanted, decimals } = settings ?? {};
  const found = wanted === undefined ? undefined : conversion(unit, wanted);
  return {
    unit: found ? wanted : unit,
    isCounter: false,
    ...(decimals !== undefined && { decimals }),
    ...(found && { isUnitFixed: true, conversion: found }),
  };
}

/** The ends of the dial in the shown unit. */
function rangeOf(
  metric: Metric,
  raw: number,
  { conversion: by }: DialLook,
  settings: PanelSettings | undefined,
): [number, number] {
  const [low, high] = dialRange(metric, raw).map((end) => (by ? finite(convert(end, by)) : end));
  const [min, max] = [settings?.min ?? low, settings?.max ?? high];
  return withEnds([min, max], { min });
}

type Limits = readonly Pick<Threshold, 'value' | 'severity' | 'side'>[];

/** The limits of a metric in the shown unit, unless the panel has its own. */
function limitsOf(
  { warn, alarm }: Meaning,
  { conversion: by }: DialLook,
  thresholds: readonly Threshold[] | undefined,
): Limits {
  if (thresholds) return thresholds;
  const found = [
    { value: warn?.below, severity: 'warn', side: 'below' },
    { value: warn?.above, severity: 'warn', side: 'above' },
    { value: alarm?.below, severity: 'alarm', side: 'below' },
    { value: alarm?.above, severity: 'alarm', side: 'above' },
  ] as const;
  return found.flatMap(({ value, ...limit }) =>
    value === undefined ? [] : { ...limit, value: by ? convert(value, by) : value },
  );
}

interface Zone {
  readonly from: number;
  readonly to: number;
  readonly tone: Threshold['severity'];
}

function zones(limits: Limits, scale: ValueScale): Zone[] {
  const share = (value: number) => Math.min(1, Math.max(0, scale.share(value)));
  return limits
    .map(({ value, severity, side }) =>
      side === 'below'
        ? { from: 0, to: share(value), tone: severity }
        : { from: share(value), to: 1, tone: severity },
    )
    .filter(({ from, to }) => to > from);
}

function arc(from: number, to: number, radius: number): string {
  const point = (share: number) => {
    const angle = ((START + SWEEP * share) * Math.PI) / 180;
    return `${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`;
  };
  const isLarge = (to - from) * SWEEP > 180 ? 1 : 0;
  return `M${point(from)}A${radius} ${radius} 0 ${isLarge} 1 ${point(to)}`;
}
