import { keyOf, type Target } from '../wire/target.ts';
import type { CommandRequest } from './protocol.ts';
import type { CommandView } from './view.ts';

/** The DAC's timeout for a node is 5 s; this one is for a DAC that does not answer. */
const TIMEOUT_MS = 6000;

/** Pending commands, and the results of finished ones. */
export class Commands {
  private readonly pending = new Map<number, CommandView>();
  private changed: CommandView[] = [];

  sent(id: number, target: Target, request: CommandRequest, now: number): void {
    const view: CommandView = { key: keyOf(target), request, status: 'pending', since: now };
    this.pending.set(id, view);
    this.changed.push(view);
  }

  /** Returns the command that is done. */
  done(id: number, now: number): CommandView | undefined {
    return this.finish(id, now, { status: 'done' });
  }

  failed(id: number, code: string, message: string, now: number): boolean {
    return this.finish(id, now, { status: 'failed', code, message }) !== undefined;
  }

  refuse(target: Target, request: CommandRequest, code: string, now: number): void {
    this.changed.push({ key: keyOf(target), request, status: 'failed', code, since: now });
  }

  disconnected(now: number): void {
    for (const id of [...this.pending.keys()]) this.failed(id, 'connection_lost', '', now);
  }

  tick(now: number): void {
    for (const [id, view] of [...this.pending]) {
      if (now - view.since > TIMEOUT_MS) this.failed(id, 'no_answer', '', now);
    }
  }

  drain(): CommandView[] {
    const changed = this.changed;
    this.changed = [];
    return changed;
  }

  private finish(id: number, now: number, end: Partial<CommandView>): CommandView | undefined {
    const view = this.pending.get(id);
    if (!view) return undefined;
    this.pending.delete(id);
    const finished = { ...view, ...end, since: now };
    this.changed.push(finished);
    return finished;
  }
}
