import type { Batch } from '@oasis/wire';

/** The doors of a DAC, in order of preference. */
export const DOORS = ['websocket', 'events', 'stream', 'wait', 'poll'] as const;
export type DoorName = (typeof DOORS)[number];

export type LossReason = 'first' | 'unreachable' | 'closed' | 'silent' | 'shutdown' | 'protocol' | 'door';

/** A connection to a DAC. All doors carry the messages of `oasis.v1` (docs/reference/websocket.md). */
export interface Door {
  send(text: string): void;
  /** Closes the connection without waiting for the close handshake; no event follows. */
  close(): void;
}

export interface DoorEvents {
  /** The door is open for samples. */
  opened(): void;
  /** A control message. */
  text(data: string): void;
  /** A native batch. */
  binary(bytes: Uint8Array): void;
  /** A decoded batch; `bytes` is its size on the wire. */
  batch(topic: number, batch: Batch, bytes: number): void;
  closed(reason: LossReason, code: number | undefined): void;
}
