import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useCallback } from 'preact/hooks';
import { useSize } from './use_size.ts';

/** The font size of the root element, in pixels: lengths in rem grow with it. */
const rootSize = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

/** Returns how many digits fit into an element, in letters of this many rem or else in its own. */
export function useRoom(element: RefObject<HTMLElement>, rem?: number): ReadonlySignal<number> {
  const room = useSignal(Number.POSITIVE_INFINITY);
  const measure = useCallback(
    (width: number) => {
      if (!element.current) return;
      const style = getComputedStyle(element.current);
      const size = rem === undefined ? style.fontSize : `${rem * rootSize()}px`;
      room.value = Math.floor(width / figureWidth(`${size} ${style.fontFamily}`));
    },
    [element, rem, room],
  );
  useSize(element, measure);
  return room;
}

/** Width of a text in digits of the page's font, whatever its size is. */
export function widthInDigits(text: string): number {
  family ??= getComputedStyle(document.body).fontFamily;
  const font = `100px ${family}`;
  return textWidth(text, font) / figureWidth(font);
}

/** It does not change while the page is open. */
let family: string | undefined;
let pen: CanvasRenderingContext2D | null | undefined;

function textWidth(text: string, font: string): number {
  pen ??= document.createElement('canvas').getContext('2d');
  if (pen) pen.font = font;
  return pen?.measureText(text).width || (text.length * Number.parseFloat(font)) / 2;
}

const widths = new Map<string, number>();

function figureWidth(font: string): number {
  let width = widths.get(font);
  if (width === undefined) {
    width = textWidth('0', font);
    widths.set(font, width);
  }
  return width;
}
