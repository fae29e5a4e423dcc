import { useComputed, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { PastNote, pastOf } from '../../components/past_note.tsx';
import { Toggle } from '../../components/toggle.tsx';
import { usePalette } from '../../components/use_palette.ts';
import { useSame } from '../../components/use_same.ts';
import { useSize } from '../../components/use_size.ts';
import { useView } from '../../components/use_view.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatSpan } from '../../format/time.ts';
import { metricAt } from '../../series/parts.ts';
import { byBrowserOfDac } from '../../state/alarm_clock.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { changePanel } from '../../state/panels.ts';
import { cellsOf } from '../../state/store.ts';
import type { Query, ViewResult } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import { testRunStrings } from '../../strings/test_runs.ts';
import { registerPicture } from '../shared/exports.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { OverlayChart } from './overlay_chart.ts';

type Spec = SpecOf<'overlay'>;

const words = testRunStrings.overlay;
/** Points of a curve. */
const COLUMNS = 1000;

/** A metric in two test runs, which begin at the same place, and the difference of both. */
export function OverlayPanel({ spec }: { spec: Spec }) {
  const above = useRef<HTMLDivElement>(null);
  const below = useRef<HTMLDivElement>(null);
  const chart = useRef<OverlayChart>();
  const results = useSignal<readonly (ViewResult | undefined)[]>([undefined, undefined]);
  /** What is under the pointer: seconds, or percent. */
  const pointed = useSignal<number | undefined>(undefined);
  const palette = usePalette();
  const look = useSame(() => {
    const { unit, kind } = metricAt(cellsOf(spec.target).status.value?.schema, spec.metric) ?? {};
    return { unit, isCounter: kind === 'counter' };
  }).value;
  const isStep = useComputed(() => cellsOf(spec.target).entry.value?.kind === 'on-change').value;
  const resize = useCallback(() => chart.current?.resize(), []);
  useSize(above, resize);
  useEffect(() => {
    if (!above.current || !below.current) return;
    const { unit, isCounter } = look;
    const made = new OverlayChart(
      [above.current, below.current],
      {
        unit: isCounter ? `${unit ?? ''}/s` : unit,
        isCounter,
        isStep,
        isScaled: spec.isScaled === true,
        runs: spec.runs.map((run) => ({
          ...run,
          from: byBrowserOfDac(run.from),
          to: byBrowserOfDac(run.to),
        })),
      },
      palette,
      (place) => {
        pointed.value = place;
      },
    );
    chart.current = made;
    const stop = results.subscribe((both) => made.show(both));
    const forget = registerPicture(spec.id, {
      vector: () => made.vector(),
      legend: () => spec.runs.map(({ name }, index) => ({ name, color: palette.series[index] })),
      table: () =>
        made.table(
          words.columns(
            spec.isScaled === true,
            spec.runs.map(({ name }) => name),
          ),
        ),
    });
    return () => {
      stop();
      forget();
      made.destroy();
      chart.current = undefined;
    };
  }, [spec, look, isStep, palette, results, pointed]);
  const query = (index: 0 | 1): Query => ({
    kind: 'columns',
    range: {
      live: false,
      from: byBrowserOfDac(spec.runs[index].from),
      to: byBrowserOfDac(spec.runs[index].to),
    },
    sources: [{ target: spec.target, metrics: [spec.metric] }],
    columns: COLUMNS,
  });
  const take = (index: 0 | 1) => (result: ViewResult) => {
    results.value = results.peek().map((other, at) => (at === index ? result : other));
  };
  useView(() => query(0), take(0));
  useView(() => query(1), take(1));
  const past = results.value.flatMap((result) => (result ? (pastOf(result) ?? []) : []));
  return (
    <section class="panel overlay-panel" data-testid="overlay" data-panel={spec.id}>
      <div
        class="chart"
        role="img"
        aria-label={words.about(spec.metric)}
        ref={above}
        data-testid="overlay-curves"
      />
      <p class="panel-note">{words.difference}</p>
      <div
        class="overlay-difference"
        role="img"
        aria-label={words.aboutDifference(spec.metric)}
        ref={below}
        data-testid="overlay-difference"
      />
      <Readout
        spec={spec}
        chart={chart.current}
        place={pointed.value}
        unit={look.unit}
        isRate={look.isCounter}
      />
      <div class="panel-options">
        <ul class="legend">
          {spec.runs.map(({ name, from, to }, index) => (
            <li key={name} class="legend-item">
              <span class="legend-line">
                <span class={`legend-mark series-${index}`} aria-hidden="true" />
                <bdi class="legend-name">{name}</bdi>
                <span class="legend-value">{formatSpan(Math.round((to - from) / 100) * 100)}</span>
              </span>
            </li>
          ))}
        </ul>
        <Toggle
          label={words.scaled}
          isOn={spec.isScaled === true}
          testId="overlay-scaled"
          onChange={(isScaled) => changePanel(spec.id, { ...spec, isScaled })}
        />
      </div>
      <PanelFooter spec={spec}>
        <PastNote past={past.find(({ state }) => state !== 'ready') ?? past[0]} />
      </PanelFooter>
    </section>
  );
}

/** The values at the pointer, or at the last place that both test runs have. */
function Readout(props: {
  spec: Spec;
  chart: OverlayChart | undefined;
  place: number | undefined;
  unit: string | undefined;
  isRate: boolean;
}) {
  const { spec, chart, unit, isRate } = props;
  const at = chart?.valuesAt(props.place);
  if (!at) return <p class="panel-note">{strings.connection.unknown}</p>;
  const show = (value: number) => formatQuantity(value, unit, isRate);
  const where = spec.isScaled ? `${at.place.toFixed(1)} %` : formatSpan(Math.round(at.place * 1000));
  const [one, two] = spec.runs.map(({ name }) => name);
  const difference = `${at.second - at.first > 0 ? '+' : ''}${show(at.second - at.first)}`;
  return (
    <p class="panel-note" data-testid="overlay-readout">
      {words.at(where, `${one} ${show(at.first)}`, `${two} ${show(at.second)}`, difference)}
    </p>
  );
}
