import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { PastNote } from '../../components/past_note.tsx';
import { useView } from '../../components/use_view.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatInteger } from '../../format/number.ts';
import { formatWithin } from '../../format/tick_labels.ts';
import type { Histogram } from '../../series/histogram.ts';
import { ValueScale } from '../../series/value_scale.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { cellsOf } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import type { PastPart } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import { registerPicture } from '../shared/exports.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';

type Spec = SpecOf<'histogram'>;

const BINS = 48;
const WIDTH = 480;
const HEIGHT = 160;
const words = strings.histogram;

/** The distribution of values, or of the times between samples, over the time shown. */
export function HistogramPanel({ spec }: { spec: Spec }) {
  const drawing = useRef<SVGSVGElement>(null);
  const found = useSignal<Histogram | undefined>(undefined);
  const past = useSignal<PastPart | undefined>(undefined);
  const metric = cellsOf(spec.target).status.value?.schema?.metrics.find(({ name }) => name === spec.metric);
  const unit = spec.metric === null ? 'ms' : metric?.unit;
  const table = useRef<() => string[][]>(() => []);
  table.current = () => rows(found.value);
  useEffect(
    () => registerPicture(spec.id, { svg: () => drawing.current, table: () => table.current() }),
    [spec.id],
  );
  useView(
    () => ({
      kind: 'histogram',
      range: range.value,
      source: { target: spec.target, metrics: spec.metric === null ? [] : [spec.metric] },
      of: spec.metric === null ? 'intervals' : 'values',
      bins: BINS,
    }),
    ({ answer }) => {
      if (answer.kind !== 'histogram') return;
      found.value = answer.histogram;
      past.value = answer.past;
    },
  );
  const histogram = found.value;
  return (
    <section class="panel" data-testid="histogram" data-panel={spec.id}>
      {histogram ? (
        <Bars histogram={histogram} unit={unit} drawing={drawing} />
      ) : (
        <p class="panel-empty">{words.empty}</p>
      )}
      <PanelFooter spec={spec}>
        <PastNote past={past.value} />
      </PanelFooter>
    </section>
  );
}

function Bars(props: {
  histogram: Histogram;
  unit: string | undefined;
  drawing: { readonly current: SVGSVGElement | null };
}) {
  const { histogram, unit } = props;
  const { counts, min, max, mean, median, p99, samples, of } = histogram;
  const most = Math.max(...counts);
  const step = WIDTH / counts.length;
  const scale = new ValueScale(min, max);
  const show = (value: number) => formatWithin(value, [min, max], unit);
  const place = (value: number) => scale.share(value) * WIDTH;
  const facts: [string, string][] = [
    [
      words.samples,
      of > samples ? words.of(formatInteger(samples), formatInteger(of)) : formatInteger(samples),
    ],
    [words.min, show(min)],
    [words.median, show(median)],
    [words.mean, show(mean)],
    [words.p99, show(p99)],
    [words.max, show(max)],
    ...infiniteIn(histogram),
  ];
  return (
    <>
      {samples > 0 && (
        <svg
          class="bars"
          viewBox={`0 0 ${WIDTH} ${HEIGHT + 4}`}
          preserveAspectRatio="none"
          ref={props.drawing}
          role="img"
          aria-label={words.title}
          data-testid="histogram-bars"
        >
          <title>{words.title}</title>
          {counts.map((count, bin) => {
            // The square root shows the rare beside the usual.
            const height = Math.sqrt(count / most) * HEIGHT;
            return (
              <rect
                key={bin}
                class="bars-bar"
                x={bin * step}
                y={HEIGHT - height}
                width={step * 0.9}
                height={height}
              >
                <title>{words.bar(show(scale.value(bin / counts.length)), formatInteger(count))}</title>
              </rect>
            );
          })}
          <line class="bars-median" x1={place(median)} x2={place(median)} y1={0} y2={HEIGHT} />
          <line class="bars-p99" x1={place(p99)} x2={place(p99)} y1={0} y2={HEIGHT} />
          <line class="bars-ground" x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        </svg>
      )}
      {samples > 0 && (
        <div class="bars-ends" aria-hidden="true">
          <span>{show(min)}</span>
          <span>{words.scale}</span>
          <span>{show(max)}</span>
        </div>
      )}
      <dl class="facts-row">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Counts of infinite values, which have no bar. */
function infiniteIn({ below, above }: Histogram): [string, string][] {
  const counts: [number, number][] = [
    [Number.NEGATIVE_INFINITY, below],
    [Number.POSITIVE_INFINITY, above],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([value, count]) => [formatQuantity(value, undefined, false), formatInteger(count)]);
}

function rows(histogram: Histogram | undefined): string[][] {
  if (!histogram) return [];
  const { counts, min, max, below, above } = histogram;
  const scale = new ValueScale(min, max);
  return [
    ['from', 'samples'],
    ...(below > 0 ? [['-Infinity', String(below)]] : []),
    ...counts.map((count, bin) => [String(scale.value(bin / counts.length)), String(count)]),
    ...(above > 0 ? [['Infinity', String(above)]] : []),
  ];
}
