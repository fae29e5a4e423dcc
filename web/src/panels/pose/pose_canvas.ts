import type { Palette } from '../../charts/palette.ts';
import { recordSvg } from '../../charts/svg_recorder.ts';
import { drawFlat } from './draw_flat.ts';
import { drawMarks } from './draw_marks.ts';
import type { Vector } from './frame.ts';
import { FIRST_VIEW, fitted, needsFit, PoseProjection, type PoseView } from './pose_camera.ts';
import { groundLines, type PoseDrawing, type PreparedPoses, poseAt, preparePoses } from './pose_drawing.ts';
import { type PoseModel, PoseRenderer } from './pose_renderer.ts';
import { groundWords } from './pose_words.ts';
import { firstAfter, placeOf } from './segments.ts';

/** A view, and whether it shows all trails by itself: until somebody moves it. */
export interface KeptView {
  readonly view: PoseView;
  readonly isFitted: boolean;
}

/** Distance in pixels from which the pointer finds a position. */
const POINTER_DISTANCE = 24;

/** Poses on a canvas of WebGL, with marks on another one above it. They are drawn once a frame, if something changed. */
export class PoseCanvas {
  view: PoseView;
  private isFitted: boolean;
  private drawing: PoseDrawing | undefined;
  private prepared: PreparedPoses | undefined;
  private model: PoseModel | undefined;
  private cursor: number | undefined;
  private frame = 0;
  private frames = 0;
  private width = 1;
  private height = 1;
  private readonly marks = document.createElement('canvas');
  private readonly renderer: PoseRenderer;
  private readonly stop = new AbortController();

  constructor(
    private readonly element: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    context: WebGL2RenderingContext,
    private readonly palette: Palette,
    kept: KeptView | undefined,
    private readonly options: {
      moved(kept: KeptView): void;
      /** The browser has taken the context away. */
      lost(): void;
    },
  ) {
    this.view = kept?.view ?? FIRST_VIEW;
    this.isFitted = kept?.isFitted ?? true;
    this.renderer = new PoseRenderer(canvas, context);
    canvas.className = this.marks.className = 'pose-canvas';
    element.append(canvas, this.marks);
    canvas.addEventListener('webglcontextlost', () => options.lost(), { signal: this.stop.signal });
  }

  get size(): readonly [width: number, height: number] {
    return [this.width, this.height];
  }

  resize(width: number, height: number): void {
    [this.width, this.height] = [width, height];
    this.renderer.resize(width, height);
    this.marks.width = Math.round(width * devicePixelRatio);
    this.marks.height = Math.round(height * devicePixelRatio);
    this.arrange();
    // At once: a canvas of a new size is empty.
    this.draw();
  }

  show(drawing: PoseDrawing): void {
    this.drawing = drawing;
    this.prepared = preparePoses(drawing, this.palette);
    const { ground, trails, bodies } = this.prepared;
    this.model = {
      ground: groundLines(ground, this.palette),
      trails,
      bodies: bodies.flatMap(({ place, axes }) => (axes ? [{ place, axes }] : [])),
    };
    this.renderer.show(this.model);
    this.arrange();
    this.refresh();
  }

  /** Marks the poses at a time. */
  point(time: number | undefined): void {
    this.cursor = time;
    this.refresh();
  }

  turn(view: PoseView): void {
    this.set(view, this.isFitted);
  }

  move(view: PoseView): void {
    this.set(view, false);
  }

  fit(): void {
    this.set(fitted(this.view, this.prepared?.bounds, this.width / this.height), true);
  }

  /** Returns the time of the position that is nearest to a pixel; undefined if none is near. */
  nearest([x, y]: readonly [number, number]): number | undefined {
    const { drawing, prepared } = this;
    if (!drawing || !prepared) return undefined;
    const projection = this.projection(prepared);
    let [least, time]: [number, number | undefined] = [POINTER_DISTANCE ** 2, undefined];
    for (const { track } of drawing.poses) {
      for (let index = firstAfter(track, drawing.times[0]); index < track.times.length; index++) {
        const at = projection.pixel(prepared.local.place(placeOf(track, index, drawing.up)));
        const distance = at ? (at[0] - x) ** 2 + (at[1] - y) ** 2 : least;
        if (distance < least) [least, time] = [distance, track.times[index]];
      }
    }
    return time;
  }

  vector(): SVGSVGElement {
    const paper = document.createElement('canvas');
    [paper.width, paper.height] = [this.width, this.height];
    const svg = recordSvg(paper, this.palette.panel, () => {
      const ctx = paper.getContext('2d');
      if (!ctx || !this.prepared || !this.model) return;
      drawFlat(ctx, this.projection(this.prepared), this.model);
      this.drawMarksOn(ctx);
    });
    svg.setAttribute('width', String(this.width));
    svg.setAttribute('height', String(this.height));
    return svg;
  }

  destroy(): void {
    this.stop.abort();
    cancelAnimationFrame(this.frame);
    this.renderer.destroy();
    this.canvas.remove();
    this.marks.remove();
  }

  private set(view: PoseView, isFitted: boolean): void {
    [this.view, this.isFitted] = [view, isFitted];
    this.options.moved({ view, isFitted });
    this.refresh();
  }

  /** Keeps the trails in sight. */
  private arrange(): void {
    const aspect = this.width / this.height;
    if (this.isFitted && needsFit(this.view, this.prepared?.bounds, aspect)) this.fit();
  }

  private refresh(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    if (!this.prepared) return;
    this.renderer.draw(this.projection(this.prepared));
    const ctx = this.marks.getContext('2d');
    if (ctx) {
      ctx.save();
      ctx.clearRect(0, 0, this.marks.width, this.marks.height);
      ctx.scale(devicePixelRatio, devicePixelRatio);
      this.drawMarksOn(ctx);
      ctx.restore();
    }
    this.frames++;
    this.element.dataset.frames = String(this.frames);
    this.element.dataset.distance = this.view.distance.toPrecision(4);
    this.element.dataset.azimuth = this.view.azimuth.toFixed(3);
  }

  private drawMarksOn(ctx: CanvasRenderingContext2D): void {
    const { drawing, prepared, cursor } = this;
    if (!drawing || !prepared) return;
    const pointed = drawing.poses.flatMap(({ track }): Vector[] => {
      const at = cursor === undefined ? -1 : poseAt(track, cursor);
      return at < 0 ? [] : [prepared.local.place(placeOf(track, at, drawing.up))];
    });
    const isNamed = drawing.poses.length > 1;
    const marks = {
      bodies: prepared.bodies,
      pointed,
      up: drawing.up,
      isNamed,
      ground: groundWords(prepared, drawing),
    };
    drawMarks(ctx, this.projection(prepared), this.size, marks, this.palette);
  }

  private projection({ local }: PreparedPoses): PoseProjection {
    return new PoseProjection(this.view, local, this.width, this.height);
  }
}
