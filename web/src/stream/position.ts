import type { Fields } from '../wire/fields.ts';

/** The newest sample that a page has of an instance: a place that every DAC understands (websocket.md, "Portable positions"). */
export interface Position {
  readonly node: string;
  readonly instance: string;
  readonly run: string;
  readonly sequence: number;
  /** The place after it in the log of the DAC that was left: a relay asks its upstream for both. */
  readonly epoch: string;
  readonly offset: number;
}

const RUN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EPOCH = /^[0-9a-f]{16}$/;
/** Longest name of a node or an instance. */
const MAX_NAME_LENGTH = 1024;

/** Reads a position; undefined if it is none. */
export function positionIn(fields: Fields): Position | undefined {
  const { node, instance, run, sequence, epoch, offset } = fields;
  if (!isName(node) || !isName(instance) || !isText(run, RUN) || !isText(epoch, EPOCH)) return undefined;
  if (!isCount(sequence) || sequence === 0 || !isCount(offset)) return undefined;
  return { node, instance, run, sequence, epoch, offset };
}

/** What a DAC is asked for: the place after a sample, or so many samples before. */
export function resumeAt({ run, sequence, epoch, offset }: Position, before: number): string {
  return `${epoch}:${Math.max(0, offset - before)} ${run}@${Math.max(1, sequence + 1 - before)}`;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH;
}

function isText(value: unknown, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
