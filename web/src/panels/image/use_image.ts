import type { Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Frame } from '../../series/frames.ts';
import { type ImageSize, sizeOfImage } from './image_file.ts';
import { imageStrings as words } from './strings.ts';

interface DrawnImage {
  /** Draws an image when it is decoded. If others come meanwhile, the newest of them is next. */
  show(frame: Frame | undefined): void;
}

/** The size of the image that is drawn, or the reason why one is not. */
export type DrawnState = ImageSize | string | undefined;

/** Decodes images beside the page and draws them on a canvas. */
export function useImage(
  canvas: { readonly current: HTMLCanvasElement | null },
  state: Signal<DrawnState>,
): DrawnImage {
  const drawn = useMemo(() => new ImageDrawing(canvas, state), [canvas, state]);
  useEffect(() => () => drawn.close(), [drawn]);
  return drawn;
}

class ImageDrawing implements DrawnImage {
  private shown: Frame | undefined;
  private next: Frame | undefined;
  private isDecoding = false;
  private isClosed = false;

  constructor(
    private readonly canvas: { readonly current: HTMLCanvasElement | null },
    private readonly state: Signal<DrawnState>,
  ) {}

  show(frame: Frame | undefined): void {
    if (frame === undefined || isSame(frame, this.shown)) return;
    this.next = frame;
    if (!this.isDecoding) void this.decode();
  }

  close(): void {
    this.isClosed = true;
  }

  private async decode(): Promise<void> {
    this.isDecoding = true;
    for (let frame = this.next; frame && !this.isClosed; frame = this.next) {
      this.next = undefined;
      this.shown = frame;
      this.state.value = await this.draw(frame);
    }
    this.isDecoding = false;
  }

  private async draw({ file }: Frame): Promise<DrawnState> {
    const size = sizeOfImage(new Uint8Array(await file.arrayBuffer()), file.type);
    if (typeof size === 'string') return size;
    let bitmap: ImageBitmap;
    try {
      bitmap = await createImageBitmap(file);
    } catch {
      return words.damaged;
    }
    const canvas = this.canvas.current;
    if (canvas && !this.isClosed) {
      if (canvas.width !== bitmap.width) canvas.width = bitmap.width;
      if (canvas.height !== bitmap.height) canvas.height = bitmap.height;
      const context = canvas.getContext('2d');
      context?.clearRect(0, 0, canvas.width, canvas.height);
      context?.drawImage(bitmap, 0, 0);
      canvas.dataset.drawn = String(Number(canvas.dataset.drawn ?? 0) + 1);
    }
    bitmap.close();
    return size;
  }
}

function isSame(one: Frame, other: Frame | undefined): boolean {
  return other !== undefined && one.sequence === other.sequence && one.time === other.time;
}
