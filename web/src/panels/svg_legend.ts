import { CHARACTER } from '../charts/axes.ts';
import { readPalette } from '../charts/palette.ts';
import { formatUnit } from '../format/unit.ts';
import type { DescribedLine } from './lines.ts';

const SPACE = 'http://www.w3.org/2000/svg';
/** Widths in letters: of the mark before a name, and between two names. */
const MARK = 3;
const GAP = 3;

/** A chart's drawing with the names of its lines below it. */
export function withLegend(
  drawing: SVGSVGElement,
  lines: readonly Pick<DescribedLine, 'label' | 'unit' | 'isCounter' | 'color'>[],
): SVGSVGElement {
  const palette = readPalette();
  const [, , width, height] = (drawing.getAttribute('viewBox') ?? '').split(' ').map(Number);
  const size = palette.size * devicePixelRatio;
  const [letter, row] = [size * CHARACTER, size * 1.7];
  let [x, y] = [letter, height + row / 2];
  const shapes: SVGElement[] = [];
  for (const { label, unit, isCounter, color } of lines) {
    const of = formatUnit(unit) + (isCounter ? '/s' : '');
    const name = of === '' ? label : `${label} [${of}]`;
    const wide = (MARK + name.length + GAP) * letter;
    if (x > letter && x + wide > width) [x, y] = [letter, y + row];
    const paint = palette.series[color % palette.series.length];
    const line = { x1: x, x2: x + 2 * letter, y1: y, y2: y, stroke: paint, 'stroke-width': size / 5 };
    const text = {
      x: x + MARK * letter,
      y,
      fill: palette.text,
      'font-size': size,
      'dominant-baseline': 'central',
    };
    shapes.push(shape('line', line), shape('text', { ...text, 'font-family': palette.family }, name));
    x += wide;
  }
  const whole = y + row / 2;
  const ground = { x: 0, y: height, width, height: whole - height, fill: palette.panel };
  drawing.append(shape('rect', ground), ...shapes);
  drawing.setAttribute('viewBox', `0 0 ${width} ${whole}`);
  drawing.setAttribute('height', String(whole / devicePixelRatio));
  return drawing;
}

function shape(name: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.textContent = text;
  return element;
}
