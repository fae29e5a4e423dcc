import type { CommandView } from '../stream/view.ts';

/** Milliseconds for which the end of a command is shown: what failed may have to be read twice. */
const SHOWN_MS = { done: 30_000, failed: 300_000 };

/** Whether the end of a command is too long ago to be shown; milliseconds since 1970. */
export function isOldNews({ status, since }: Pick<CommandView, 'status' | 'since'>, now: number): boolean {
  return status !== 'pending' && now - since > SHOWN_MS[status];
}
