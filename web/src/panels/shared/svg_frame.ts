import { CHARACTER } from '../../charts/axes.ts';
import { type Palette, readPalette } from '../../charts/palette.ts';
import type { LegendEntry } from './exports.ts';

const SPACE = 'http://www.w3.org/2000/svg';
/** Widths in letters: of the mark before a name, and between two names. */
const MARK_WIDTH = 3;
const GAP = 3;
/** Heights in sizes of a letter. */
const ROW = 1.7;

/** What a picture says besides its drawing, because it leaves the page. */
export interface Caption {
  readonly title: string;
  /** Nodes and time. */
  readonly facts: string;
  readonly legend: readonly LegendEntry[];
}

/** A drawing with its title, nodes and time above it, and the names of its colors below. Sizes are those of the page. */
export function framed(
  drawing: SVGSVGElement,
  width: number,
  height: number,
  { title, facts, legend }: Caption,
): SVGSVGElement {
  const palette = readPalette();
  const { size } = palette;
  const top = 2 * ROW * size + size / 2;
  const named = legendRows(legend, width, top + height, palette);
  const whole = named.bottom + size / 2;
  const frame = shape('svg', { xmlns: SPACE, width, height: whole, viewBox: `0 0 ${width} ${whole}` });
  for (const [name, value] of Object.entries({ x: 0, y: top, width, height }))
    drawing.setAttribute(name, String(value));
  const letter = size * CHARACTER;
  const heading = {
    x: letter,
    y: size * 1.2,
    fill: palette.text,
    'font-size': size * 1.15,
    'font-weight': 600,
  };
  const below = { x: letter, y: size * 2.9, fill: palette.muted, 'font-size': size };
  frame.append(
    shape('rect', { x: 0, y: 0, width, height: whole, fill: palette.panel }),
    text(heading, title, palette),
    text(below, facts, palette),
    drawing,
    ...named.shapes,
  );
  return frame as SVGSVGElement;
}

function legendRows(legend: readonly LegendEntry[], width: number, top: number, palette: Palette) {
  const { size } = palette;
  const letter = size * CHARACTER;
  const row = size * ROW;
  let [x, y] = [letter, top + row / 2];
  const shapes: SVGElement[] = [];
  for (const { name, color } of legend) {
    const wide = (MARK_WIDTH + name.length + GAP) * letter;
    if (x > letter && x + wide > width) [x, y] = [letter, y + row];
    const line = { x1: x, x2: x + 2 * letter, y1: y, y2: y, stroke: color, 'stroke-width': size / 5 };
    const label = { x: x + MARK_WIDTH * letter, y, fill: palette.text, 'font-size': size };
    shapes.push(shape('line', line), text({ ...label, 'dominant-baseline': 'central' }, name, palette));
    x += wide;
  }
  return { shapes, bottom: legend.length === 0 ? top : y + row / 2 };
}

function text(attributes: Record<string, string | number>, content: string, palette: Palette): SVGElement {
  return shape('text', { ...attributes, 'font-family': palette.family }, content);
}

function shape(name: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const element = document.createElementNS(SPACE, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) {
    if (key !== 'xmlns') element.setAttribute(key, String(value));
  }
  element.textContent = text;
  return element;
}
