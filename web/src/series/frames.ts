import type { MediaType } from '@oasis/wire';

/** Bytes of images of one metric that the page keeps. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Number of images of one metric that the page keeps: empty files have no bytes. */
const MAX_FRAMES = 4096;

/** An image of a sample. */
export interface Frame {
  readonly sequence: number;
  /** Node clock, milliseconds. */
  readonly time: number;
  readonly bytes: number;
  /** Its file, not checked yet. A page gets a reference to it, not a copy. */
  readonly file: Blob;
}

export interface KeptFrames {
  readonly frames: number;
  readonly bytes: number;
  /** Frames that were evicted since the page was opened. */
  readonly evicted: number;
}

/** Copies the bytes of an image out of a batch. */
export function frameOf(sequence: number, time: number, bytes: Uint8Array, mediaType: MediaType): Frame {
  const file = new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mediaType });
  return { sequence, time, bytes: bytes.length, file };
}

/** The newest images of one metric, in the order of time. The oldest are evicted. */
export class Frames {
  private frames: Frame[] = [];
  private bytes = 0;
  private evicted = 0;

  constructor(
    readonly mediaType: MediaType,
    private readonly maxBytes = MAX_FRAME_BYTES,
  ) {}

  add(sequence: number, time: number, bytes: Uint8Array): void {
    this.frames.push(frameOf(sequence, time, bytes, this.mediaType));
    this.bytes += bytes.length;
    while (this.frames.length > MAX_FRAMES || (this.bytes > this.maxBytes && this.frames.length > 1)) {
      this.bytes -= this.frames.shift()?.bytes ?? 0;
      this.evicted++;
    }
  }

  /** Drops all: the clock of the node was set back. */
  clear(): void {
    this.frames = [];
    this.bytes = 0;
  }

  get kept(): KeptFrames {
    const { bytes, evicted } = this;
    return { frames: this.frames.length, bytes, evicted };
  }

  /** Returns the last image at or before a time; undefined if that is older than all that are kept. */
  at(time: number): Frame | undefined {
    return this.frames.findLast((frame) => frame.time <= time);
  }
}
