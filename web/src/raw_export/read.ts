import type { Schema } from '@oasis/wire';
import { askStream, fetchJson } from '../api/api.ts';
import { byNode } from '../state/alarm_clock.ts';
import { parseGaps } from '../stream/protocol.ts';
import { type Fields, isFields, listOf } from '../wire/fields.ts';
import type { SamplesMessage } from '../wire/json_batch.ts';
import type { Target } from '../wire/target.ts';
import { samplesIn } from './count.ts';
import { type DacFormat, type LineWriter, lineWriter, type TextFormat } from './formats.ts';

/** Reads every sample of a time from the DAC and makes a file of them. */

/** A larger file is for the command line: the browser keeps this one until it is saved. */
export const MAX_BYTES = 512 * 1024 * 1024;
/** Text that is put together before it becomes part of the file. */
const PART_LENGTH = 1 << 20;
/** Steps that are narrow enough to find the gaps of a time, and few enough for any type. */
const GAP_POINTS = 200;
/** Timeout of a part of the past, milliseconds. */
const PATIENCE_MS = 120_000;

export interface Progress {
  readonly samples: number;
  readonly bytes: number;
  /** Missing samples, by cause. */
  readonly missing: ReadonlyMap<string, number>;
}

export class TooLarge extends Error {}

/** Milliseconds by the browser's clock. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface ExportRequest extends Span {
  readonly target: Target;
  readonly schema: Schema;
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

  /** Adds all samples of an instance. Throws what {@link fetchJson} throws, and {@link TooLarge}. */
  async add(format: TextFormat, asked: ExportRequest, signal: AbortSignal): Promise<void> {
    const writer = lineWriter(format, asked.schema);
    this.write(writer.head);
    let next: string | undefined;
    for (let isMore = true; isMore; ) {
      const answer = await fetchJson('GET', samplesPath(asked, next), { signal, patience: PATIENCE_MS });
      const { messages, more, next: after } = isFields(answer) ? answer : {};
      for (const message of listOf(messages)) this.take(message, writer);
      isMore = more === true && typeof after === 'string' && after !== next;
      next = String(after);
    }
    this.flush();
  }

  /** Adds a file of several instances that the DAC writes. */
  async addBytes(
    format: DacFormat,
    targets: readonly Target[],
    span: Span,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `history.${format}?${spanOf(targets, span)}`;
    const reader = (await askStream(path, {}, signal, PATIENCE_MS)).getReader();
    const before = this.parts.length;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      this.parts.push(new Blob([part.value as Uint8Array<ArrayBuffer>]));
      this.grow(part.value.length);
      this.report(this.progress);
    }
    this.samples += (await samplesIn(format, new Blob(this.parts.slice(before)))) ?? 0;
    for (const target of targets) await this.missAll(target, span, signal);
  }

  /** Counts what is missing in a time, from the points of the past: a file does not say it. */
  private async missAll(target: Target, { from, to }: Span, signal: AbortSignal): Promise<void> {
    const query = spanOf([target], { from, to });
    query.set('points', String(GAP_POINTS));
    const answer = await fetchJson('GET', `samples?${query}`, { signal, patience: PATIENCE_MS });
    const [start, end] = [from, to].map((time) => 1e6 * byNode(target.node, time));
    // The points begin earlier and end later, at whole steps.
    for (const message of listOf(isFields(answer) ? answer.messages : undefined))
      for (const gap of listOf(message.gaps))
        if (Number(gap.to) >= start && Number(gap.from) <= end)
          this.miss(String(gap.cause), Number(gap.samples));
  }

  private take(message: Fields, writer: LineWriter): void {
    if (message.event === 'samples') {
      const found = message as unknown as SamplesMessage;
      this.samples += found.samples.length;
      const gaps = parseGaps(found.gaps_before);
      for (const { cause, count } of gaps) this.miss(cause, count);
      // An earlier DAC reports no causes.
      if (gaps.length === 0) this.miss('node_dropped', Number(found.dropped_before));
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
    if (this.text.length >= PART_LENGTH) this.flush();
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

/** `resume` is where the answer before it ended. */
function samplesPath({ target, from, to }: ExportRequest, resume?: string): string {
  const query = spanOf([target], { from, to });
  query.set('integers', 'string');
  if (resume !== undefined) {
    query.delete('from');
    query.set('resume', resume);
  }
  return `samples?${query}`;
}

/** Instances and a time, by the clock of the first one's node. */
function spanOf(targets: readonly Target[], { from, to }: Span): URLSearchParams {
  const query = new URLSearchParams();
  for (const { node, instance } of targets) {
    query.append('node', node);
    query.append('instance', instance);
  }
  query.set('from', `${nanos(byNode(targets[0].node, from))}ns`);
  query.set('to', `${nanos(byNode(targets[0].node, to))}ns`);
  return query;
}

/** A double is not exact enough. */
function nanos(ms: number): bigint {
  return BigInt(Math.max(0, Math.round(ms * 1000))) * 1000n;
}
