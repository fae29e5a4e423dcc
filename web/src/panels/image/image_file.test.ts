import { expect, it } from 'vitest';
import { sizeOfImage } from './image_file.ts';

const bytes = (...parts: (readonly number[])[]) => Uint8Array.from(parts.flat());
const pngHead = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const png = (width: readonly number[], height: readonly number[]) =>
  bytes(pngHead, [0, 0, 0, 13], [0x49, 0x48, 0x44, 0x52], width, height, [8, 2, 0, 0, 0]);
const text = (of: string) => new TextEncoder().encode(of);

it('reads the size of a PNG file', () => {
  expect(sizeOfImage(png([0, 0, 2, 128], [0, 0, 1, 224]), 'image/png')).toEqual({ width: 640, height: 480 });
});

it('reads the size of a JPEG file after other segments', () => {
  const file = bytes([0xff, 0xd8], [0xff, 0xe0, 0, 4, 9, 9], [0xff, 0xc2, 0, 17, 8, 1, 224, 2, 128, 3]);
  expect(sizeOfImage(file, 'image/jpeg')).toEqual({ width: 640, height: 480 });
});

it('refuses other formats, whatever the type says', () => {
  const svg = text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  for (const type of ['image/jpeg', 'image/png'] as const) {
    expect(sizeOfImage(svg, type)).toBe(`these bytes are not ${type}`);
    expect(sizeOfImage(text('GIF89a'), type)).toBe(`these bytes are not ${type}`);
    expect(sizeOfImage(new Uint8Array(), type)).toBe(`these bytes are not ${type}`);
  }
  expect(sizeOfImage(png([0, 0, 0, 1], [0, 0, 0, 1]), 'image/jpeg')).toBe('these bytes are not image/jpeg');
});

it('refuses images of too many pixels, or none', () => {
  expect(sizeOfImage(png([255, 255, 255, 255], [255, 255, 255, 255]), 'image/png')).toMatch('too many');
  expect(sizeOfImage(png([0, 0, 0, 0], [0, 0, 0, 1]), 'image/png')).toMatch('no size');
});

it('ends with each cut and each damaged file', () => {
  const file = bytes([0xff, 0xd8], [0xff, 0xe0, 0, 4, 9, 9], [0xff, 0xc0, 0, 17, 8, 0, 1, 0, 1, 3]);
  for (let length = 0; length < file.length - 1; length++)
    expect(typeof sizeOfImage(file.subarray(0, length), 'image/jpeg')).toBe('string');
  expect(sizeOfImage(bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0, 1, 1]), 'image/jpeg')).toMatch('no size');
  expect(sizeOfImage(bytes([0xff, 0xd8, 0xff, 0xff, 0xff, 0xff]), 'image/jpeg')).toMatch('no size');
});
