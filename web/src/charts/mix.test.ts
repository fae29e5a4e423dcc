import { expect, it } from 'vitest';
import { path, ramp } from './mix.ts';

it('mixes colors evenly, whether they are short or long', () => {
  expect(ramp('#000', '#ffffff', 3)).toEqual(['rgb(0 0 0)', 'rgb(128 128 128)', 'rgb(255 255 255)']);
  expect(ramp('#102030', '#fff', 1)).toEqual(['rgb(255 255 255)']);
  expect(path(['#fff', '#0000ff', '#00f'], 5)).toEqual([
    [255, 255, 255],
    [128, 128, 255],
    [0, 0, 255],
    [0, 0, 255],
    [0, 0, 255],
  ]);
});
