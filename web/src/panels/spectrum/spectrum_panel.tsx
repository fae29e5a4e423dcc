import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { Palette } from '../../charts/palette.ts';
import { Plane } from '../../charts/plane.ts';
import { ScaleRange } from '../../charts/scale_range.ts';
import { GapSummary } from '../../components/gap_summary.tsx';
import { causeOf } from '../../components/gap_words.ts';
import { PastNote } from '../../components/past_note.tsx';
import { Choice, Toggle } from '../../components/toggle.tsx';
import { usePalette } from '../../components/use_palette.ts';
import { useSize } from '../../components/use_size.ts';
import { useView } from '../../components/use_view.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatInteger } from '../../format/number.ts';
import type { GapMark } from '../../series/causes.ts';
import { SIZES, type Spectrum } from '../../series/spectrum.ts';
import { windowNames } from '../../series/transform.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { changePanel } from '../../state/panels.ts';
import { range } from '../../state/time.ts';
import type { AnswerOf } from '../../stream/query.ts';
import { computedPanelStrings, infiniteWords } from '../../strings/computed_panels.ts';
import { strings } from '../../strings/strings.ts';
import { registerPicture } from '../shared/exports.ts';
import { ExpressionLines } from '../shared/expression_lines.tsx';
import { ExpressionNames } from '../shared/expression_names.tsx';
import { MAX_EXPRESSIONS } from '../shared/expressions.ts';
import type { DescribedLine } from '../shared/lines.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { useExpressions } from '../shared/use_expressions.ts';
import { drawSpectrum } from './draw_spectrum.ts';
import { SpectrogramDrawing } from './spectrogram_drawing.tsx';

type Spec = SpecOf<'spectrum'>;
type SpectrumAnswer = AnswerOf<'spectrum'>;

const words = computedPanelStrings.spectrum;
/** Decibels below the largest amplitude that are shown. */
const DEPTH_DB = 120;

/** The frequencies in expressions over the time shown. */
export function SpectrumPanel({ spec }: { spec: Spec }) {
  const answer = useSignal<SpectrumAnswer | undefined>(undefined);
  const pointed = useSignal<number | undefined>(undefined);
  const shown = useRef<readonly [number, number]>([0, 1]);
  const { plans, lines } = useExpressions(spec.expressions);
  useView(
    () => ({
      kind: 'spectrum',
      range: range.value,
      expressions: plans.value,
      size: spec.size,
      window: spec.window,
      isOverTime: spec.isOverTime === true,
    }),
    (result) => {
      if (result.answer.kind !== 'spectrum') return;
      shown.current = [result.from, result.to];
      answer.value = result.answer;
    },
  );
  const spectra = answer.value?.spectra ?? [];
  return (
    <section class="panel" data-testid="spectrum" data-panel={spec.id}>
      {spec.isOverTime ? (
        <SpectrogramDrawing spec={spec} lines={lines} answer={answer} shown={shown} />
      ) : (
        <Drawing spec={spec} lines={lines} answer={answer} pointed={pointed} />
      )}
      {lines.map((line, index) => (
        <p key={line.metric} class="panel-note" data-testid="spectrum-note">
          {aboutOf(line, spectra[index], { pointed: pointed.value, gaps: answer.value?.gaps ?? [], spec })}
        </p>
      ))}
      <GapSummary gaps={answer.value?.gaps ?? []} />
      <Options spec={spec} />
      <ExpressionNames spec={spec} lines={lines} canAdd={lines.length < MAX_EXPRESSIONS} />
      <ExpressionLines spec={spec} />
      <PanelFooter spec={spec}>
        <PastNote past={answer.value?.past} />
      </PanelFooter>
    </section>
  );
}

/** Amplitudes over frequencies. */
function Drawing(props: {
  spec: Spec;
  lines: readonly DescribedLine[];
  answer: Signal<SpectrumAnswer | undefined>;
  pointed: Signal<number | undefined>;
}) {
  const { spec, lines, answer, pointed } = props;
  const place = useRef<HTMLDivElement>(null);
  const plane = useRef<Plane>();
  const palette = usePalette();
  useSize(
    place,
    useCallback((width: number, height: number) => plane.current?.resize(width, height), []),
  );
  useEffect(() => {
    if (!place.current || lines.length === 0) return;
    const made = planeOf(
      place.current,
      spec,
      lines,
      palette,
      () => answer.peek(),
      (frequency) => {
        pointed.value = frequency;
      },
    );
    plane.current = made.plane;
    const stop = answer.subscribe(made.draw);
    const forget = registerPicture(spec.id, {
      vector: () => made.plane.vector(),
      legend: () => lines.map(({ label, color }) => ({ name: label, color: palette.series[color] })),
      table: () => tableOf(lines, answer.peek()),
    });
    return () => {
      stop();
      forget();
      made.plane.destroy();
      plane.current = undefined;
    };
  }, [spec, lines, palette, answer, pointed]);
  return (
    <div
      class="chart"
      role="img"
      aria-label={words.about(lines.map(({ label }) => label).join(', '))}
      ref={place}
      data-testid="spectrum-chart"
    />
  );
}

function Options({ spec }: { spec: Spec }) {
  const change = (more: Partial<Spec>) => changePanel(spec.id, { ...spec, ...more });
  return (
    <div class="panel-options">
      <Choice
        label={words.size}
        value={spec.size}
        values={SIZES}
        nameOf={formatInteger}
        testId="spectrum-size"
        onChange={(size) => change({ size })}
      />
      <Choice
        label={words.window}
        value={spec.window}
        values={windowNames}
        nameOf={(name) => words.windows[name]}
        testId="spectrum-window"
        onChange={(window) => change({ window })}
      />
      <Toggle
        label={words.overTime}
        isOn={spec.isOverTime === true}
        testId="spectrum-over-time"
        onChange={(isOverTime) => change({ isOverTime })}
      />
      {!spec.isOverTime && (
        <>
          <Toggle
            label={words.decibel}
            isOn={spec.isDecibel === true}
            testId="spectrum-decibel"
            onChange={(isDecibel) => change({ isDecibel })}
          />
          <Toggle
            label={words.logarithmic}
            isOn={spec.isLogarithmic === true}
            testId="spectrum-logarithmic"
            onChange={(isLogarithmic) => change({ isLogarithmic })}
          />
        </>
      )}
    </div>
  );
}

function planeOf(
  element: HTMLElement,
  spec: Spec,
  lines: readonly DescribedLine[],
  palette: Palette,
  answerOf: () => SpectrumAnswer | undefined,
  point: (frequency: number | undefined) => void,
): { readonly plane: Plane; readonly draw: () => void } {
  const isLogarithmic = spec.isLogarithmic === true;
  const heights = new ScaleRange();
  const drawnOf = () =>
    (answerOf()?.spectra ?? []).flatMap((found, index) => {
      if (!found || found.averaged === 0 || found.constant !== undefined) return [];
      const values = spec.isDecibel ? found.amplitudes.map(decibels) : found.amplitudes;
      return { values, step: found.step, color: palette.series[lines[index]?.color ?? 0] };
    });
  const plane = new Plane(
    element,
    { units: ['Hz', spec.isDecibel ? 'dB' : lines[0].unit], isLogarithmic },
    palette,
    {
      paint: (ctx, at) => {
        for (const drawn of drawnOf()) drawSpectrum(ctx, at, drawn, isLogarithmic);
      },
      pointed: (at) => point(at?.[0]),
    },
  );
  const draw = () => {
    const all = drawnOf();
    if (all.length === 0) {
      plane.draw([isLogarithmic ? 1 : 0, 10], [0, 1]);
      return;
    }
    const top = Math.max(...all.map(({ values }) => largest(values)));
    const last = Math.max(1, ...all.map(({ values, step }) => (values.length - 1) * step));
    const first = Math.min(last / 2, ...all.map(({ step }) => step));
    const low = spec.isDecibel
      ? Math.max(top - DEPTH_DB, Math.min(...all.map(({ values }) => smallest(values))))
      : 0;
    plane.draw([isLogarithmic ? first : 0, last], heights.fit(low, top));
  };
  return { plane, draw };
}

/** What the spectrum is made from, and its highest peak or the amplitude under the pointer. */
function aboutOf(
  line: DescribedLine,
  found: Spectrum | undefined,
  { pointed, gaps, spec }: { pointed: number | undefined; gaps: readonly GapMark[]; spec: Spec },
): string {
  if (!found) {
    const lasting = gaps.find(({ isLasting }) => isLasting);
    return lasting ? words.silent(line.label, causeOf(lasting)) : words.tooFew(line.label);
  }
  const { amplitudes, step, rate, size, averaged, leftOut, infinite, skipped, constant } = found;
  if (constant !== undefined) return words.constant(line.label, formatQuantity(constant, line.unit, false));
  const peak = amplitudes.indexOf(largest(amplitudes.subarray(1)), 1);
  const at =
    // The mean is taken off before: frequency 0 says nothing.
    pointed === undefined ? peak : Math.min(amplitudes.length - 1, Math.max(1, Math.round(pointed / step)));
  const place = words.at(
    formatQuantity(at * step, 'Hz', false),
    formatQuantity(amplitudes[at] ?? Number.NaN, line.unit, false),
  );
  const made = words.made(
    formatInteger(averaged),
    formatInteger(size),
    formatQuantity(rate, 'Hz', false),
    formatQuantity(step, 'Hz', false),
  );
  const left = leftOut > 0 ? words.leftOut(leftOut) : '';
  const ends = infinite > 0 ? infiniteWords(infinite) : '';
  const skips = skipped > 0 ? words.skipped(skipped, strings.gaps.describe('silent', 0)) : '';
  const reference = spec.isDecibel ? words.reference(formatQuantity(1, line.unit, false)) : '';
  return [pointed === undefined ? words.peak(place) : place, made, reference, left, ends, skips]
    .filter(Boolean)
    .join(' \u00b7 ');
}

function decibels(amplitude: number): number {
  return 20 * Math.log10(Math.max(amplitude, Number.MIN_VALUE));
}

function largest(values: Float64Array): number {
  return values.reduce((found, value) => Math.max(found, value), Number.NEGATIVE_INFINITY);
}

function smallest(values: Float64Array): number {
  return values.reduce((found, value) => Math.min(found, value), Number.POSITIVE_INFINITY);
}

function tableOf(lines: readonly DescribedLine[], answer: SpectrumAnswer | undefined): string[][] {
  const spectra = answer?.spectra ?? [];
  return [
    [words.columns.line, words.columns.frequency, words.columns.amplitude],
    ...lines.flatMap(({ label, unit }, index) => {
      const { amplitudes = new Float64Array(), step = 0 } = spectra[index] ?? {};
      return Array.from(amplitudes, (value, at) => [
        `${label} [${unit ?? '1'}]`,
        String(at * step),
        String(value),
      ]);
    }),
  ];
}
