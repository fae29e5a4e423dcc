import { type Signal, signal, useComputed, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { cssColor, heatColors } from '../../charts/heat_colors.ts';
import { ramp } from '../../charts/mix.ts';
import type { Palette } from '../../charts/palette.ts';
import { ScaleRange } from '../../charts/scale_range.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatWithin } from '../../format/tick_labels.ts';
import { pointAt } from '../../series/point_at.ts';
import type { Track } from '../../series/track.ts';
import { finiteExtremes } from '../../series/value_scale.ts';
import { judgeKnown } from '../../state/expressions.ts';
import { nameOf } from '../../state/names.ts';
import { cursorTime, range } from '../../state/time.ts';
import type { AnswerOf } from '../../stream/query.ts';
import { visible } from '../../text/visible.ts';
import type { DrawnTrack } from './draw_map.ts';
import { formatLatitude, formatLongitude } from './graticule.ts';
import { MapCanvas } from './map_canvas.ts';
import type { MapView } from './projection.ts';
import { mapStrings } from './strings.ts';
import { tileOrigin } from './tile_address.ts';
import '../../styles/map.css';
import { GapSummary } from '../../components/gap_summary.tsx';
import { PastNote } from '../../components/past_note.tsx';
import { usePalette } from '../../components/use_palette.ts';
import { useSame } from '../../components/use_same.ts';
import { useSize } from '../../components/use_size.ts';
import { useView } from '../../components/use_view.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { registerPicture } from '../shared/exports.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { MapOptions } from './map_options.tsx';
import { colorsOf } from './tracks.ts';
import { type MapControl, useMapGestures } from './use_map_gestures.ts';
import { useTrackPlans } from './use_track_plans.ts';

type Spec = SpecOf<'map'>;

const words = mapStrings;
const SERIES = 10;
const COLORS = 24;
/** Digits of a degree in texts: a meter. */
const PRECISION = 1e-5;

/** What maps show, by panel: a change of a panel makes it anew. */
const views = new Map<string, { readonly view: MapView; readonly isFitted: boolean }>();

/** Where instances were in the time shown. */
export function MapPanel({ spec }: { spec: Spec }) {
  const place = useRef<HTMLDivElement>(null);
  const map = useRef<MapCanvas>();
  const control = useRef<MapControl>(null);
  const answer = useSignal<TracksAnswer | undefined>(undefined);
  const failedTile = useSignal('');
  const { plans, problems } = useTrackPlans(spec);
  const names = useSame(() => spec.tracks.map(({ target }) => nameOf(target))).value;
  const unit = useComputed(() => unitOf(spec)).value;
  const palette = usePalette();
  useSize(
    place,
    useCallback((width: number, height: number) => map.current?.resize(width, height), []),
  );
  useEffect(() => {
    if (!place.current) return;
    const made = drawnMap(place.current, { spec, names, palette, answer, failedTile });
    map.current = made.canvas;
    control.current = made.control;
    map.current.resize(place.current.clientWidth, place.current.clientHeight);
    const stops = [answer.subscribe(made.draw), cursorTime.subscribe(made.draw)];
    const forget = registerPicture(spec.id, {
      vector: () => made.canvas.vector(),
      table: () => tableOf(names, unit, answer.peek()),
    });
    return () => {
      for (const stop of stops) stop();
      forget();
      made.canvas.destroy();
      map.current = undefined;
      control.current = null;
    };
  }, [spec, names, palette, answer, failedTile, unit]);
  useMapGestures(place, control);
  const ready = plans.value;
  useView(
    () => ({
      kind: 'tracks',
      range: range.value,
      tracks: plans.value.map((track) => track.plans),
    }),
    (result) => {
      if (result.answer.kind !== 'tracks') return;
      const { tracks } = result.answer;
      answer.value = {
        ...result.answer,
        range: [result.from, result.to],
        places: ready.flatMap(({ index }, at) => (tracks[at] ? [[index, tracks[at]] as const] : [])),
      };
    },
  );
  const found = answer.value;
  const isEmpty = found?.places.every(([, { times }]) => times.length === 0) ?? false;
  return (
    <section class="panel" data-testid="map" data-panel={spec.id}>
      <div
        class="chart map"
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move it
        tabIndex={0}
        aria-label={words.about((names as string[]).join(', '))}
        ref={place}
        data-testid="map-canvas"
        data-points={found?.places.reduce((sum, [, { times }]) => sum + times.length, 0)}
      >
        {isEmpty && ready.length > 0 && <p class="map-empty">{words.empty}</p>}
      </div>
      {problems.map((problem) => (
        <p key={problem} class="panel-note is-warn" role="status">
          {problem}
        </p>
      ))}
      {failedTile.value !== '' && (
        <p class="panel-note is-warn" role="status" data-testid="map-tiles-failed">
          {tileProblem(failedTile.value)}
        </p>
      )}
      <Legend names={names} answer={found} spec={spec} unit={unit} />
      <GapSummary gaps={found?.gaps ?? []} />
      <MapOptions
        spec={spec}
        names={names}
        values={spec.color === undefined ? undefined : valuesOf(found)}
        unit={unit}
        onFit={() => map.current?.fit()}
      />
      <PanelFooter spec={spec}>
        <PastNote past={found?.past} />
      </PanelFooter>
    </section>
  );
}

interface TracksAnswer extends AnswerOf<'tracks'> {
  readonly range: readonly [from: number, to: number];
  /** The tracks by their number in the panel. */
  readonly places: readonly (readonly [index: number, track: Track])[];
}

/** Why there is no tile, and what helps. */
function tileProblem(address: string): string {
  const origin = tileOrigin(address);
  return origin !== undefined && refusedOrigins.value.has(origin)
    ? words.tilesRefused(origin)
    : words.tilesFailed(address);
}

function drawnMap(
  element: HTMLElement,
  has: {
    readonly spec: Spec;
    readonly names: readonly string[];
    readonly palette: Palette;
    readonly answer: Signal<TracksAnswer | undefined>;
    readonly failedTile: Signal<string>;
  },
): { readonly canvas: MapCanvas; readonly control: MapControl; readonly draw: () => void } {
  const { spec, names, palette, answer } = has;
  const canvas = new MapCanvas(element, palette, views.get(spec.id), {
    tiles: spec.tiles,
    follow: spec.follow,
    moved: (view, isFitted) => views.set(spec.id, { view, isFitted }),
    tileFailed: (address) => {
      has.failedTile.value = address;
    },
  });
  const control: MapControl = {
    get view() {
      return canvas.view;
    },
    move: (view) => canvas.move(view),
    fit: () => canvas.fit(),
    pointed: (at) => {
      cursorTime.value = at && canvas.nearest(at)?.time;
    },
  };
  const scale = new ScaleRange();
  const byValue = spec.color === undefined ? undefined : heatColors(COLORS).map(cssColor);
  let last: TracksAnswer | undefined;
  let tracks: readonly DrawnTrack[] = [];
  let values: readonly [number, number] | undefined;
  const draw = () => {
    const found = answer.peek();
    if (!found) return;
    if (found !== last) {
      last = found;
      tracks = drawnTracks(spec, names, found, palette, byValue);
      values = byValue && scale.fit(...(valuesOf(found) ?? [Number.NaN, Number.NaN]));
    }
    const [from, to] = found.range;
    const since = spec.trail === undefined ? from : Math.max(from, to - spec.trail * 1000);
    const cursor = cursorTime.peek();
    canvas.show({ tracks, shapes: spec.shapes ?? [], times: [since, to], values, cursor, hasTiles: false });
  };
  return { canvas, control, draw };
}

/** One for each track of the panel, so that numbers of tracks stay. */
function drawnTracks(
  spec: Spec,
  names: readonly string[],
  { places }: TracksAnswer,
  palette: Palette,
  byValue: readonly string[] | undefined,
): DrawnTrack[] {
  const found = new Map(places);
  return spec.tracks.map((_, index) => {
    const color = palette.series[index % SERIES];
    return {
      track: found.get(index) ?? NOTHING,
      name: visible(names[index]),
      color,
      colors: byValue ?? ramp(palette.line, color, COLORS),
    };
  });
}

const NOTHING: Track = {
  times: new Float64Array(),
  longitudes: new Float64Array(),
  latitudes: new Float64Array(),
  headings: new Float32Array(),
  colors: new Float64Array(),
  breaks: new Uint8Array(),
};

/** Where each instance was at the time under the pointer, or is. */
function Legend(props: {
  names: readonly string[];
  answer: TracksAnswer | undefined;
  spec: Spec;
  unit: string | undefined;
}) {
  const { names, answer, spec, unit } = props;
  const time = cursorTime.value ?? (range.value.live ? undefined : range.value.to);
  const found = new Map(answer?.places ?? []);
  return (
    <ul class="legend" data-testid="map-legend">
      {names.map((name, index) => {
        const track = found.get(index);
        const at = track ? placeOf(track, time) : -1;
        return (
          <li key={`${index} ${name}`} class="map-place" data-testid="map-place">
            <span class={`legend-mark series-${index % SERIES}`} aria-hidden="true" />
            <span class="legend-name">{name}</span>
            <span class="map-figures">
              {track && at >= 0 ? figuresOf(track, at, spec.color !== undefined, unit) : words.noPosition}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** The place at the time that is read; live the newest one, however old it is. */
function placeOf(track: Track, time: number | undefined): number {
  return time === undefined ? track.times.length - 1 : pointAt(track, time, track.isOver === true);
}

function figuresOf(track: Track, at: number, hasValue: boolean, unit: string | undefined): string {
  const position = words.position(
    formatLatitude(track.latitudes[at], PRECISION),
    formatLongitude(track.longitudes[at], PRECISION),
  );
  const heading = track.headings[at];
  return [
    position,
    ...(Number.isNaN(heading) ? [] : [words.heading(formatQuantity(Math.round(heading), 'deg', false))]),
    ...(hasValue ? [formatWithin(track.colors[at], finiteExtremes(track.colors), unit)] : []),
  ].join(' \u00b7 ');
}

function valuesOf(answer: TracksAnswer | undefined): readonly [number, number] | undefined {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [, { colors }] of answer?.places ?? []) {
    const [least, greatest] = finiteExtremes(colors);
    low = Math.min(low, least);
    high = Math.max(high, greatest);
  }
  return low <= high ? [low, high] : undefined;
}

/** The unit of the values that color the tracks. Reads signals. */
function unitOf(spec: Spec): string | undefined {
  const [first] = colorsOf(spec);
  const found = first === undefined ? undefined : judgeKnown(first);
  return found?.state === 'ready' ? found.unit : undefined;
}

function tableOf(
  names: readonly string[],
  unit: string | undefined,
  answer: TracksAnswer | undefined,
): string[][] {
  const { time, instance, latitude, longitude, value } = words.table;
  const rows = (answer?.places ?? []).flatMap(([index, track]) =>
    Array.from(track.times, (at, row) => [
      new Date(at).toISOString(),
      names[index],
      String(track.latitudes[row]),
      String(track.longitudes[row]),
      Number.isNaN(track.colors[row]) ? '' : String(track.colors[row]),
    ]),
  );
  return [[time, instance, `${latitude} [deg]`, `${longitude} [deg]`, `${value} [${unit ?? '1'}]`], ...rows];
}

/** Servers whose pictures the policy of the page refuses, because the DAC does not allow them. */
const refusedOrigins = signal<ReadonlySet<string>>(new Set());

document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
  if (effectiveDirective !== 'img-src' || !URL.canParse(blockedURI)) return;
  refusedOrigins.value = new Set([...refusedOrigins.peek(), new URL(blockedURI).origin]);
});
