import type { Palette } from '../../charts/palette.ts';
import { recordSvg } from '../../charts/svg_recorder.ts';
import type { Track } from '../../series/track.ts';
import { type Drawing, drawMap, pixelOf, placeAt } from './draw_map.ts';
import {
  centered,
  fitted,
  type LonLat,
  type MapView,
  metersPerPixel,
  project,
  turnsOf,
} from './projection.ts';
import { tilesOf } from './tiles.ts';

/** Distance in pixels from which the pointer finds a place. */
const POINTER_DISTANCE = 24;
/** A map that shows all tracks moves when one comes this close to its edge, or if it could be so many times as large. */
const EDGE = 12;
const TOO_FAR = 2;

/** A map on a canvas, above pictures of the ground. It is drawn once a frame. */
export class MapCanvas {
  view: MapView;
  /** Whether it shows all tracks by itself: until somebody moves it. */
  private isFitted: boolean;
  private drawing: Drawing | undefined;
  private frame = 0;
  private width = 1;
  private height = 1;
  private readonly canvas = document.createElement('canvas');
  private readonly ground = document.createElement('div');
  private readonly images = new Map<string, HTMLImageElement>();

  constructor(
    private readonly element: HTMLElement,
    private readonly palette: Palette,
    kept: { readonly view: MapView; readonly isFitted: boolean } | undefined,
    private readonly options: {
      readonly tiles: string | undefined;
      /** Number of the track that stays in the middle. */
      readonly follow: number | undefined;
      moved(view: MapView, isFitted: boolean): void;
      tileFailed(address: string): void;
    },
  ) {
    this.view = kept?.view ?? fitted([], 1, 1);
    this.isFitted = kept?.isFitted ?? true;
    this.ground.className = 'map-ground';
    this.canvas.className = 'map-canvas';
    element.append(this.ground, this.canvas);
  }

  resize(width: number, height: number): void {
    [this.width, this.height] = [width, height];
    this.canvas.width = Math.round(width * devicePixelRatio);
    this.canvas.height = Math.round(height * devicePixelRatio);
    this.arrange();
    this.draw();
  }

  show(drawing: Drawing): void {
    const isSame = this.drawing?.tracks === drawing.tracks;
    this.drawing = drawing;
    if (!isSame) this.arrange();
    this.refresh();
  }

  move(view: MapView): void {
    this.isFitted = false;
    this.set(view);
  }

  fit(): void {
    this.isFitted = true;
    this.set(fitted(this.lines(), this.width, this.height));
  }

  /** The place of a track that is nearest to a point of the drawing; undefined if none is near. */
  nearest([x, y]: readonly [number, number]): { readonly time: number } | undefined {
    const { drawing, view, width, height } = this;
    let [least, time] = [POINTER_DISTANCE ** 2, Number.NaN];
    for (const { track } of drawing?.tracks ?? []) {
      const [from] = drawing?.times ?? [0];
      for (let index = 0; index < track.times.length; index++) {
        if (track.times[index] < from) continue;
        const [right, up] = project(view, [track.longitudes[index], track.latitudes[index]]);
        for (const turn of turnsOf(view, width, [right, right])) {
          const at = pixelOf(view, width, height, [right + turn * 2 * Math.PI, up]);
          const distance = (at[0] - x) ** 2 + (at[1] - y) ** 2;
          if (distance <= least) [least, time] = [distance, track.times[index]];
        }
      }
    }
    return Number.isNaN(time) ? undefined : { time };
  }

  vector(): SVGSVGElement {
    const paper = document.createElement('canvas');
    [paper.width, paper.height] = [this.width, this.height];
    const svg = recordSvg(paper, this.palette.panel, () => {
      const ctx = paper.getContext('2d');
      // Pictures of the ground belong to others.
      if (ctx && this.drawing) this.drawOn(ctx, { ...this.drawing, hasTiles: false });
    });
    svg.setAttribute('width', String(this.width));
    svg.setAttribute('height', String(this.height));
    return svg;
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.canvas.remove();
    this.ground.remove();
  }

  private set(view: MapView): void {
    this.view = view;
    this.options.moved(view, this.isFitted);
    this.refresh();
  }

  /** Keeps the tracks in sight, or one of them in the middle. */
  private arrange(): void {
    const { follow } = this.options;
    const followed = follow === undefined ? undefined : this.drawing?.tracks[follow]?.track;
    const newest = followed && lastPlace(followed);
    const wanted = this.isFitted ? fitted(this.lines(), this.width, this.height) : undefined;
    if (wanted && this.needsFit(wanted)) this.set(wanted);
    if (!newest) return;
    // From now on the scale stays.
    this.isFitted = false;
    this.set(centered(this.view, newest));
  }

  private needsFit(wanted: MapView): boolean {
    const points = this.lines().flatMap((line) => line.map((place) => this.pixels(place)));
    if (points.length === 0) return false;
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    const isOutside =
      least(xs) < EDGE ||
      least(ys) < EDGE ||
      -least(xs, -1) > this.width - EDGE ||
      -least(ys, -1) > this.height - EDGE;
    return isOutside || wanted.kind !== this.view.kind || wanted.scale > TOO_FAR * this.view.scale;
  }

  private pixels(place: LonLat): readonly [number, number] {
    const [x, y] = project(this.view, place);
    const [turn = 0] = turnsOf(this.view, this.width, [x, x]);
    return pixelOf(this.view, this.width, this.height, [x + turn * 2 * Math.PI, y]);
  }

  /** The parts of the tracks that are drawn. */
  private lines(): LonLat[][] {
    const { tracks = [], times: [from] = [0] } = this.drawing ?? {};
    return tracks.map(({ track }) => {
      const first = Math.max(0, placeAt(track, from));
      return Array.from({ length: track.times.length - first }, (_, index): LonLat => {
        return [track.longitudes[first + index], track.latitudes[first + index]];
      });
    });
  }

  private refresh(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const ctx = this.canvas.getContext('2d');
    if (!ctx || !this.drawing) return;
    const hasTiles = this.drawTiles() > 0;
    this.element.dataset.kind = this.view.kind;
    this.element.dataset.scale = metersPerPixel(this.view).toPrecision(4);
    ctx.save();
    ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
    ctx.scale(devicePixelRatio, devicePixelRatio);
    this.drawOn(ctx, { ...this.drawing, hasTiles });
    ctx.restore();
  }

  private drawOn(ctx: CanvasRenderingContext2D, drawing: Drawing): void {
    drawMap(ctx, this.view, [this.width, this.height], drawing, this.palette);
  }

  /** Moves the pictures of the ground to their places; those that are not shown are removed. */
  private drawTiles(): number {
    const { tiles } = this.options;
    if (tiles === undefined) return 0;
    const wanted = tilesOf(tiles, this.view, this.width, this.height);
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, image] of this.images) {
      if (keys.has(key)) continue;
      image.remove();
      this.images.delete(key);
    }
    for (const tile of wanted) {
      let image = this.images.get(tile.key);
      if (!image) {
        image = new Image();
        image.alt = '';
        image.onerror = () => this.options.tileFailed(tile.address);
        image.src = tile.address;
        this.images.set(tile.key, image);
        this.ground.append(image);
      }
      // A pixel more, so that no seam is seen.
      image.style.width = image.style.height = `${tile.size + 1}px`;
      image.style.transform = `translate(${tile.x}px, ${tile.y}px)`;
    }
    return wanted.length;
  }
}

function lastPlace({ longitudes, latitudes }: Track): LonLat | undefined {
  const last = longitudes.length - 1;
  return last < 0 ? undefined : [longitudes[last], latitudes[last]];
}

function least(values: readonly number[], sign = 1): number {
  return values.reduce((found, value) => Math.min(found, sign * value), Number.POSITIVE_INFINITY);
}
