import { fetchJson } from '../api/api.ts';
import { notify } from '../state/notice.ts';
import type { CommandRequest } from '../stream/protocol.ts';
import { strings } from '../strings/strings.ts';
import type { Target } from '../wire/target.ts';

const words = strings.palette;

/** Gives a command to an instance, watched or not, and says how it ended. */
export function giveCommand({ node, instance }: Target, request: CommandRequest, title: string): void {
  askDac(title, 'POST', 'commands', { node, instance, ...request });
}

/** Asks the DAC for something, and says how it ended. */
export function askDac(title: string, method: string, path: string, body?: object): void {
  void run(title, () => fetchJson(method, path, { ...(body && { body }) }));
}

/** Runs an action, and says how it ended. */
export async function run(title: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
    notify(words.done(title));
  } catch (error) {
    notify(words.failed(title, error instanceof Error ? error.message : String(error)));
  }
}
