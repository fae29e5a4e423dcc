/** Records what is drawn on a canvas as SVG shapes, which stay sharp at any size. */

const SPACE = 'http://www.w3.org/2000/svg';

/** Methods of a context that draw, or change where it draws. Styles are read from the context itself. */
const RECORDED = [
  'save',
  'restore',
  'beginPath',
  'closePath',
  'moveTo',
  'lineTo',
  'rect',
  'clip',
  'stroke',
  'fill',
  'fillRect',
  'fillText',
  'drawImage',
] as const;
type Recorded = (typeof RECORDED)[number];

/** Records a canvas as SVG; `draw` must draw all of it synchronously. */
export function recordSvg(canvas: HTMLCanvasElement, ground: string, draw: () => void): SVGSVGElement {
  const ctx = canvas.getContext('2d');
  const recorder = new Recorder(canvas);
  recorder.ground(ground);
  if (!ctx) return recorder.svg;
  // Own properties hide the methods of the prototype until they are deleted.
  const own = ctx as unknown as Record<string, unknown>;
  for (const name of RECORDED) {
    const original = ctx[name] as (...args: unknown[]) => unknown;
    own[name] = (...args: unknown[]) => {
      (recorder[name] as (ctx: CanvasRenderingContext2D, ...args: unknown[]) => void)(ctx, ...args);
      return original.apply(ctx, args);
    };
  }
  try {
    draw();
  } finally {
    for (const name of RECORDED) delete own[name];
  }
  return recorder.svg;
}

class Recorder implements Record<Recorded, (ctx: CanvasRenderingContext2D, ...args: never[]) => void> {
  readonly svg = document.createElementNS(SPACE, 'svg');
  private path: string[] = [];
  /** The present clip path; the outer ones are in `clips`. */
  private clipId: string | undefined;
  private readonly clips: (string | undefined)[] = [];
  private lastClip = 0;
  /** Prefix of ids, so that several drawings fit into one document. */
  private readonly name = crypto.getRandomValues(new Uint32Array(1))[0].toString(36);

  constructor(private readonly canvas: HTMLCanvasElement) {
    const { width, height } = canvas;
    this.svg.setAttribute('xmlns', SPACE);
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.svg.setAttribute('width', String(width / devicePixelRatio));
    this.svg.setAttribute('height', String(height / devicePixelRatio));
  }

  ground(color: string): void {
    const { width, height } = this.canvas;
    this.append('rect', { x: 0, y: 0, width, height, fill: color });
  }

  save(): void {
    this.clips.push(this.clipId);
  }

  restore(): void {
    this.clipId = this.clips.pop();
  }

  beginPath(): void {
    this.path = [];
  }

  closePath(): void {
    this.path.push('Z');
  }

  moveTo(_: CanvasRenderingContext2D, x: number, y: number): void {
    this.path.push(`M${short(x)} ${short(y)}`);
  }

  lineTo(_: CanvasRenderingContext2D, x: number, y: number): void {
    this.path.push(`L${short(x)} ${short(y)}`);
  }

  rect(_: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
    this.path.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`);
  }

  clip(): void {
    const clip = document.createElementNS(SPACE, 'clipPath');
    const id = `clip-${this.name}-${++this.lastClip}`;
    clip.setAttribute('id', id);
    if (this.clipId) clip.setAttribute('clip-path', `url(#${this.clipId})`);
    const shape = document.createElementNS(SPACE, 'path');
    shape.setAttribute('d', this.path.join(''));
    clip.append(shape);
    this.svg.append(clip);
    this.clipId = id;
  }

  stroke(ctx: CanvasRenderingContext2D): void {
    if (this.path.length === 0) return;
    this.append('path', {
      d: this.path.join(''),
      fill: 'none',
      stroke: String(ctx.strokeStyle),
      'stroke-width': ctx.lineWidth,
      'stroke-linejoin': ctx.lineJoin,
      'stroke-dasharray': ctx.getLineDash().join(' '),
      opacity: ctx.globalAlpha,
    });
  }

  fill(ctx: CanvasRenderingContext2D): void {
    if (this.path.length === 0) return;
    this.append('path', { d: this.path.join(''), fill: String(ctx.fillStyle), opacity: ctx.globalAlpha });
  }

  fillRect(ctx: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
    const d = `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
    const { lastElementChild: last } = this.svg;
    const fill = String(ctx.fillStyle);
    // A line of many samples has thousands of bars; one shape contains all of them.
    if (
      last?.tagName === 'path' &&
      last.getAttribute('data-bars') === `${fill} ${ctx.globalAlpha} ${this.clipId}`
    ) {
      last.setAttribute('d', (last.getAttribute('d') ?? '') + d);
      return;
    }
    this.append('path', {
      d,
      fill,
      opacity: ctx.globalAlpha,
      'data-bars': `${fill} ${ctx.globalAlpha} ${this.clipId}`,
    });
  }

  drawImage(
    _: CanvasRenderingContext2D,
    image: HTMLCanvasElement,
    x: number,
    y: number,
    width: number,
    height: number,
  ): void {
    const href = image.toDataURL();
    this.append('image', { x: short(x), y: short(y), width, height, href, preserveAspectRatio: 'none' });
  }

  fillText(ctx: CanvasRenderingContext2D, text: string, x: number, y: number): void {
    const anchors: Record<string, string> = { center: 'middle', right: 'end', end: 'end' };
    const baselines: Record<string, string> = {
      top: 'text-before-edge',
      middle: 'central',
      bottom: 'text-after-edge',
    };
    const size = /(\d+(?:\.\d+)?)px/.exec(ctx.font)?.[1] ?? '12';
    this.append(
      'text',
      {
        x: short(x),
        y: short(y),
        fill: String(ctx.fillStyle),
        opacity: ctx.globalAlpha,
        'font-family': ctx.font.replace(/^.*?px\s*/, ''),
        'font-size': size,
        'text-anchor': anchors[ctx.textAlign] ?? 'start',
        'dominant-baseline': baselines[ctx.textBaseline] ?? 'auto',
      },
      text,
    );
  }

  private append(name: string, attributes: Record<string, string | number>, text = ''): void {
    const element = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== '' && !(key === 'opacity' && value === 1)) element.setAttribute(key, String(value));
    }
    if (this.clipId) element.setAttribute('clip-path', `url(#${this.clipId})`);
    element.textContent = text;
    this.svg.append(element);
  }
}

/** Rounds to hundredths of a pixel. */
function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}
