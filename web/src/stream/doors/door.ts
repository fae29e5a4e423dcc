import type { Batch } from '@oasis/wire';
import type { LossReason } from '../view.ts';

/** How a page gets at a DAC, best first. */
export const DOORS = ['websocket', 'events', 'wait'] as const;
export type DoorName = (typeof DOORS)[number];

/** One connection to a DAC. Whatever the door, what is said over it is `oasis.v1` (docs/reference/websocket.md). */
export interface Door {
  send(text: string): void;
  /** Ends it without waiting for a farewell; nothing is heard of it any more. */
  close(): void;
}

export interface DoorEvents {
  /** Samples can come through it: nothing on the way holds them back. */
  opened(): void;
  /** A control message. */
  text(data: string): void;
  /** A native batch. */
  binary(bytes: Uint8Array): void;
  /** The same, decoded already; `bytes` is what it took on the way. */
  batch(topic: number, batch: Batch, bytes: number): void;
  closed(reason: LossReason, code: number | undefined): void;
}
