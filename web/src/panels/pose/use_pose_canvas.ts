import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { type MutableRef, useCallback, useEffect, useRef } from 'preact/hooks';
import type { Palette } from '../../charts/palette.ts';
import { usePalette } from '../../components/use_palette.ts';
import { useSize } from '../../components/use_size.ts';
import { useVisible } from '../../components/visible.ts';
import type { PoseTrack } from '../../series/pose_track.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { cursorTime } from '../../state/time.ts';
import { visible } from '../../text/visible.ts';
import { registerPicture } from '../shared/exports.ts';
import { type KeptView, PoseCanvas } from './pose_canvas.ts';
import type { PoseDrawing } from './pose_drawing.ts';
import { tableOf } from './pose_table.ts';
import type { ShownPoses } from './shown_poses.ts';
import { type PoseControl, usePoseGestures } from './use_pose_gestures.ts';
import { contextOf } from './webgl.ts';

/** Whether the browser draws: it has WebGL, and has not ended it. */
export type StageState = 'drawn' | 'missing' | 'lost';

interface Stage {
  readonly spec: SpecOf<'pose'>;
  readonly names: readonly string[];
  readonly unit: string | undefined;
  readonly answer: Signal<ShownPoses | undefined>;
  readonly fit: MutableRef<() => void>;
  readonly state: Signal<StageState>;
  /** Number of times that somebody wanted it drawn again. */
  readonly attempt: number;
}

/** Views by panel and upward axis: a change of a panel makes it anew. */
const views = new Map<string, KeptView>();

/** Draws poses into an element while it is visible. A hidden panel keeps no memory of the graphics processor. */
export function usePoseCanvas(place: RefObject<HTMLElement>, stage: Stage): void {
  const { spec, names, unit, answer, fit, state, attempt } = stage;
  const canvas = useRef<PoseCanvas>();
  const control = useRef<PoseControl>(null);
  const palette = usePalette();
  const isVisible = useVisible().value;
  useSize(
    place,
    useCallback((width: number, height: number) => canvas.current?.resize(width, height), []),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt draws it anew
  useEffect(() => {
    const table = () => tableOf(names, unit, answer.peek());
    const made = isVisible && place.current ? create(place.current, spec, palette, state) : undefined;
    canvas.current = made;
    control.current = made ? controlOf(made, answer) : null;
    fit.current = () => made?.fit();
    const stops = made
      ? [
          answer.subscribe((found) => found && made.show(drawingOf(spec, names, unit, found, palette))),
          cursorTime.subscribe((time) => made.point(time)),
        ]
      : [];
    const forget = registerPicture(spec.id, { table, ...(made && { vector: () => made.vector() }) });
    return () => {
      for (const stop of stops) stop();
      forget();
      made?.destroy();
      canvas.current = undefined;
      control.current = null;
    };
  }, [spec, names, unit, answer, fit, state, palette, isVisible, place, attempt]);
  usePoseGestures(place, control);
}

function create(
  element: HTMLElement,
  spec: SpecOf<'pose'>,
  palette: Palette,
  state: Signal<StageState>,
): PoseCanvas | undefined {
  const canvas = document.createElement('canvas');
  const context = contextOf(canvas);
  state.value = context ? 'drawn' : 'missing';
  if (!context) return undefined;
  const key = `${spec.id} ${spec.up ?? 'z'}`;
  const made = new PoseCanvas(element, canvas, context, palette, views.get(key), {
    moved: (kept) => views.set(key, kept),
    lost: () => {
      state.value = 'lost';
    },
  });
  made.resize(Math.max(1, element.clientWidth), Math.max(1, element.clientHeight));
  return made;
}

function controlOf(canvas: PoseCanvas, answer: Stage['answer']): PoseControl {
  return {
    get view() {
      return canvas.view;
    },
    get height() {
      return canvas.size[1];
    },
    turn: (view) => canvas.turn(view),
    move: (view) => canvas.move(view),
    fit: () => canvas.fit(),
    pointed: (at) => {
      if (answer.peek()) cursorTime.value = at && canvas.nearest(at);
    },
  };
}

/** One for each pose of the panel, so that colors stay. */
function drawingOf(
  { poses, up = 'z', trail }: SpecOf<'pose'>,
  names: readonly string[],
  unit: string | undefined,
  { byNumber, range: [from, to] }: ShownPoses,
  { series }: Palette,
): PoseDrawing {
  return {
    poses: poses.map((_, index) => ({
      track: byNumber.get(index) ?? NOTHING,
      name: visible(names[index]),
      color: series[index % series.length],
    })),
    up,
    unit,
    times: [trail === undefined ? from : Math.max(from, to - trail * 1000), to],
  };
}

const NOTHING: PoseTrack = {
  times: new Float64Array(),
  xs: new Float64Array(),
  ys: new Float64Array(),
  zs: new Float64Array(),
  quaternion: [],
  breaks: new Uint8Array(),
  unplaced: 0,
};
