import { enumeratorOf, judge, type Metric } from '@oasis/wire';
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { PastNote } from '../../components/past_note.tsx';
import { usePalette } from '../../components/use_palette.ts';
import { useSame } from '../../components/use_same.ts';
import { useSize } from '../../components/use_size.ts';
import { useView } from '../../components/use_view.ts';
import { useWheel } from '../../components/use_wheel.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { cellsOf } from '../../state/store.ts';
import { cursorTime, range, show } from '../../state/time.ts';
import type { PastPart, ViewResult } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import { isSame } from '../../wire/same.ts';
import { registerPicture } from '../shared/exports.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { useInstanceAlarms } from '../shared/use_instance_alarms.ts';
import { StateChart, type StateLook } from './state_chart.ts';

type Spec = SpecOf<'states'>;
type Track = Pick<Metric, 'name' | 'label' | 'enum' | 'warn' | 'alarm'>;

/** Enums, booleans and texts over time. */
export function StatesPanel({ spec }: { spec: Spec }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<StateChart>();
  const newest = useRef<ViewResult>();
  const drawn = useSignal(0);
  const columns = useSignal(600);
  const palette = usePalette();
  const past = useSignal<PastPart | undefined>(undefined);
  const alarms = useInstanceAlarms(spec);
  const tracks = useSame(() => tracksOf(spec)).value;

  const resize = useCallback(
    (width: number, height: number) => {
      chart.current?.resize(width, height);
      columns.value = Math.max(1, width);
      if (newest.current) chart.current?.draw(newest.current);
    },
    [columns],
  );
  useSize(place, resize);
  useWheel(place);

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const seen = tracks.map(() => new Map<unknown, number>());
    const look = (track: number, value: string | number | boolean): StateLook => {
      const metric = tracks[track];
      const text = enumeratorOf(metric.enum, value)?.name ?? String(value);
      const severity = judge(metric, value)?.severity;
      if (severity) return { text, color: severity === 'alarm' ? palette.bad : palette.warn };
      if (typeof value === 'boolean') return { text, color: value ? palette.accent : palette.muted };
      // The color of an enumerator follows its place in the enum. Other states get colors in order of appearance.
      const place = metric.enum?.values.findIndex((named) => named.value === value) ?? -1;
      if (place >= 0) return { text, color: palette.series[place % palette.series.length] };
      const known = seen[track];
      if (!known.has(value)) known.set(value, known.size);
      return { text, color: palette.series[(known.get(value) ?? 0) % palette.series.length] };
    };
    const labels = tracks.map((metric) => metric.label ?? metric.name);
    const made = new StateChart(element, labels, look, palette, {
      pointed: (time) => {
        cursorTime.value = time;
      },
      selected: show,
    });
    chart.current = made;
    if (newest.current) made.draw(newest.current);
    const forget = registerPicture(spec.id, { vector: () => made.vector() });
    const stopAlarms = alarms.subscribe(({ spans }) => made.showAlarms(spans));
    return () => {
      stopAlarms();
      forget();
      made.destroy();
      chart.current = undefined;
    };
  }, [spec.id, tracks, palette, alarms]);

  useView(
    () => ({ kind: 'states', range: range.value, sources: spec.sources, columns: columns.value }),
    (result) => {
      newest.current = result;
      const fromArchive = result.answer.kind === 'states' ? result.answer.past : undefined;
      if (!isSame(fromArchive, past.peek())) past.value = fromArchive;
      chart.current?.draw(result);
      drawn.value++;
    },
  );
  void drawn.value;
  return (
    <section class="panel" data-testid="states" data-panel={spec.id}>
      <div
        class="chart"
        role="img"
        aria-label={strings.panels.chart(tracks.map(({ label, name }) => label ?? name).join(', '))}
        ref={place}
      />
      <ul class="legend" data-testid="state-legend">
        {tracks.map((track, index) => (
          <li key={`${index} ${track.name}`} class="legend-line">
            <span class="legend-name">{track.label ?? track.name}</span>
            <span class="legend-value">
              {chart.current?.stateAt(index, cursorTime.value)?.text ?? '\u2013'}
            </span>
          </li>
        ))}
      </ul>
      <PanelFooter spec={spec}>
        <PastNote past={past.value} isOfStates />
      </PanelFooter>
    </section>
  );
}

function tracksOf(spec: Spec): Track[] {
  return spec.sources.flatMap(({ target, metrics }) => {
    const schema = cellsOf(target).status.value?.schema;
    return metrics.map((name) => schema?.metrics.find((metric) => metric.name === name) ?? { name });
  });
}
