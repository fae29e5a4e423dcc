import { afterEach, expect, it, vi } from 'vitest';
import { Fineness } from './fineness.ts';

afterEach(() => vi.unstubAllGlobals());

it('draws a column for each pixel of the device while that is fast', () => {
  vi.stubGlobal('devicePixelRatio', 3);
  const fineness = new Fineness();
  for (let drawing = 0; drawing < 20; drawing++) fineness.drew(40);
  for (let drawing = 0; drawing < 100; drawing++) fineness.drew(8);
  // A single slow one changes nothing.
  fineness.drew(30);
  expect(fineness.width).toBe(1);
  for (let drawing = 0; drawing < 100; drawing++) fineness.drew(16);
  expect(fineness.width).toBe(3);
});
