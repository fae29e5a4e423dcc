import type { Schema } from '@oasis/wire';
import { byNode } from '../alarms/clock.ts';
import { type Fields, isFields, listOf } from '../fields.ts';
import { ask, askStream } from '../state/api.ts';
import type { SamplesMessage } from '../stream/doors/json_batch.ts';
import type { Target } from '../stream/view.ts';
import { type ExportFormat, type LineWriter, lineWriter } from './formats.ts';

/** Reads every sample of a time from the DAC and makes a file of them. */

/** A larger file is for the command line: the browser keeps this one until it is saved. */
export const MAX_BYTES = 512 * 1024 * 1024;
/** Text that is put together before it becomes part of the file. */
const PART = 1 << 20;
/** Timeout of a part of the past, milliseconds. */
const PATIENCE_MS = 120_000;

export interface Progress {
  readonly samples: number;
  readonly bytes: number;
  /** Missing samples, by cause. */
  readonly missing: ReadonlyMap<string, number>;
}

export class TooLarge extends Error {}

export interface Asked {
  readonly target: Target;
  readonly schema: Schema;
  /** Milliseconds by the browser's clock. */
  readonly from: number;
  readonly to: number;
}

/** A file that grows. Samples are counted in all instances that are written to it. */
export class SampleFile {
  private readonly parts: Blob[] = [];
  private text = '';
  private samples = 0;
  private bytes = 0;
  private readonly missing = new Map<string, number>();

  constructor(private readonly report: (progress: Progress) => void) {}

  get progress(): Progress {
    return { samples: this.samples, bytes: this.bytes, missing: new Map(this.missing) };
  }

  get content(): Blob {
    this.flush();
    return new Blob(this.parts, { type: 'application/octet-stream' });
  }

  /** Adds all samples of an instance. Throws what {@link ask} throws, and {@link TooLarge}. */
  async add(format: 'csv' | 'jsonl', asked: Asked, signal: AbortSignal): Promise<void> {
    const writer = lineWriter(format, asked.schema);
    this.write(writer.head);
    let next: string | undefined;
    for (let isMore = true; isMore; ) {
      const answer = await ask('GET', pathOf('samples', asked, next), { signal, patience: PATIENCE_MS });
      const { messages, more, next: after } = isFields(answer) ? answer : {};
      for (const message of listOf(messages)) this.take(message, writer);
      isMore = more === true && typeof after === 'string' && after !== next;
      next = String(after);
    }
    this.flush();
  }

  /** Adds an answer as it is. */
  async addBytes(asked: Asked, signal: AbortSignal): Promise<void> {
    const reader = (await askStream(pathOf('history.arrow', asked), {}, signal)).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      this.parts.push(new Blob([part.value as Uint8Array<ArrayBuffer>]));
      this.grow(part.value.length);
      this.report(this.progress);
    }
  }

  private take(message: Fields, writer: LineWriter): void {
    if (message.event === 'samples') {
      const found = message as unknown as SamplesMessage;
      this.samples += found.samples.length;
      this.miss('node_dropped', Number(found.dropped_before));
      this.write(writer.lines(found));
    } else if (message.event === 'gap') {
      this.miss(String(message.cause), Number(message.count ?? 0));
    }
  }

  private miss(cause: string, count: number): void {
    if (count > 0) this.missing.set(cause, (this.missing.get(cause) ?? 0) + count);
  }

  private write(text: string): void {
    this.text += text;
    if (this.text.length >= PART) this.flush();
  }

  private flush(): void {
    if (this.text === '') return;
    const part = new Blob([this.text]);
    this.text = '';
    this.parts.push(part);
    this.grow(part.size);
    this.report(this.progress);
  }

  private grow(by: number): void {
    this.bytes += by;
    if (this.bytes > MAX_BYTES) throw new TooLarge();
  }
}

/** Whether a format puts several instances into one file. */
export function isShared(format: ExportFormat): boolean {
  return format === 'jsonl';
}

/** `resume` is where the answer before it ended. */
function pathOf(path: string, { target: { node, instance }, from, to }: Asked, resume?: string): string {
  const [start, end] = [from, to].map((time) => `${nanos(byNode(node, time))}ns`);
  const query = new URLSearchParams({ node, instance, to: end });
  if (path !== 'history.arrow') query.set('integers', 'string');
  if (resume === undefined) query.set('from', start);
  else query.set('resume', resume);
  return `${path}?${query}`;
}

/** A double is not exact enough. */
function nanos(ms: number): bigint {
  return BigInt(Math.max(0, Math.round(ms * 1000))) * 1000n;
}
