/** Most pixels of an image: a file of a few bytes can claim billions, and each takes four bytes when it is decoded. */
const MAX_PIXELS = 40_000_000;
const PNG_HEAD = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG_HEAD = [0xff, 0xd8, 0xff];
/** Markers of JPEG without a length: fill bytes, restarts and the start of the image. */
const ALONE = new Set([0x01, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xff]);
/** Of the markers from 0xc0 to 0xcf, these do not begin a frame. */
const NO_FRAME = new Set([0xc4, 0xc8, 0xcc]);
const START_OF_SCAN = 0xda;

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the size of an image from the head of its file, or the reason why it must not be decoded: it is in another format, such as
 * SVG, or too large.
 */
export function sizeOfImage(bytes: Uint8Array, mediaType: string): ImageSize | string {
  const head = mediaType === 'image/png' ? PNG_HEAD : JPEG_HEAD;
  if (!head.every((byte, index) => bytes[index] === byte)) return `these bytes are not ${mediaType}`;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = mediaType === 'image/png' ? sizeOfPng(view) : sizeOfJpeg(view);
  if (!size || size.width === 0 || size.height === 0) return 'the file has no size: it is cut or damaged';
  const { width, height } = size;
  return width * height > MAX_PIXELS ? `${width} by ${height} pixels are too many` : size;
}

/** The first chunk of a PNG file has the size. */
function sizeOfPng(view: DataView): ImageSize | undefined {
  const [width, height] = [16, 20];
  if (view.byteLength < height + 4) return undefined;
  return { width: view.getUint32(width), height: view.getUint32(height) };
}

/** The frame of a JPEG file has the size; other segments precede it. */
function sizeOfJpeg(view: DataView): ImageSize | undefined {
  let at = 2;
  while (at + 4 <= view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1);
    if (marker === START_OF_SCAN) return undefined;
    if (ALONE.has(marker)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.has(marker)) {
      if (at + 9 > view.byteLength) return undefined;
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    }
    const length = view.getUint16(at + 2);
    if (length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}
