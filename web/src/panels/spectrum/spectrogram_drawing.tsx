import type { Signal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { path } from '../../charts/mix.ts';
import { usePalette } from '../../components/use_palette.ts';
import { useSize } from '../../components/use_size.ts';
import { formatQuantity } from '../../format/axis.ts';
import type { PanelSpec } from '../../state/panel_kinds.ts';
import { cursorTime, show } from '../../state/time.ts';
import type { AnswerOf } from '../../stream/query.ts';
import { computedPanelStrings } from '../../strings/computed_panels.ts';
import { registerPicture } from '../shared/exports.ts';
import type { DescribedLine } from '../shared/lines.ts';
import { DEPTH_DB, SpectrogramChart } from './spectrogram_chart.ts';

const words = computedPanelStrings.spectrum;
const COLORS = 64;

/** Frequencies of the first expression over time, beside the other charts: they share pointer and selection. */
export function SpectrogramDrawing(props: {
  spec: PanelSpec;
  lines: readonly DescribedLine[];
  answer: Signal<AnswerOf<'spectrum'> | undefined>;
  shown: { readonly current: readonly [number, number] };
}) {
  const { spec, lines, answer, shown } = props;
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<SpectrogramChart>();
  const palette = usePalette();
  useSize(
    place,
    useCallback((width: number, height: number) => chart.current?.resize(width, height), []),
  );
  useEffect(() => {
    if (!place.current) return;
    const colors = path([palette.panel, palette.series[1], palette.series[0], palette.series[2]], COLORS);
    const made = new SpectrogramChart(place.current, palette, colors, {
      pointed: (time) => {
        cursorTime.value = time;
      },
      selected: show,
    });
    chart.current = made;
    const stop = answer.subscribe((found) => made.draw(found?.spectrogram, found?.gaps ?? [], shown.current));
    const forget = registerPicture(spec.id, { vector: () => made.vector() });
    return () => {
      stop();
      forget();
      made.destroy();
      chart.current = undefined;
    };
  }, [spec.id, palette, answer, shown]);
  const [line] = lines;
  const found = answer.value?.spectrogram;
  const largest = found?.amplitudes.reduce((most, value) => (value > most ? value : most), 0);
  return (
    <>
      <div
        class="chart"
        role="img"
        aria-label={words.aboutOverTime(line?.label ?? '')}
        ref={place}
        data-testid="spectrogram"
        data-columns={found?.times.length}
      />
      {largest !== undefined && largest > 0 && (
        <p class="panel-note" data-testid="spectrogram-note">
          <span class="spectrogram-bar" aria-hidden="true" />
          {words.colors(`${DEPTH_DB} dB`, formatQuantity(largest, line?.unit, false))}
        </p>
      )}
    </>
  );
}
