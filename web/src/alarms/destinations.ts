import { fetchJson, Refusal } from '../api/api.ts';
import { destinationStrings } from '../strings/destinations.ts';
import { isFields, listOf } from '../wire/fields.ts';
import { numberIn, textIn } from './alarm.ts';

const words = destinationStrings.destinations;

/** Where the DAC sends notifications (notifications.md). */
export interface Destination {
  readonly name: string;
  /** `alertmanager`, `webhook`, `mail`, `exec`, or a word of a newer DAC. */
  readonly kind: string;
  readonly isFailing: boolean;
  readonly waiting: number;
  readonly delivered: number;
  /** Notifications that were given up. */
  readonly failed: number;
  /** Why the last attempt failed; empty without a reason. */
  readonly problem: string;
}

const MAX_DESTINATIONS = 100;
/** The DAC waits 10 s for the destination. */
const TEST_PATIENCE_MS = 20_000;

export async function readDestinations(signal: AbortSignal): Promise<readonly Destination[]> {
  return parseDestinations(await fetchJson('GET', 'notifications', { signal }));
}

/** Sends a test; returns when the destination has accepted it. Throws an error whose message is shown on the page. */
export async function testDestination(destination: string): Promise<void> {
  try {
    await fetchJson('POST', 'notifications/test', { body: { destination }, patience: TEST_PATIENCE_MS });
  } catch (error) {
    const isLimited = error instanceof Refusal && error.code === 'too_many_tests';
    throw isLimited ? new Error(words.tooMany(error.message)) : error;
  }
}

/** Returns the destinations in the answer to `GET /api/v1/notifications`, without entries that have no name. */
export function parseDestinations(answer: unknown): readonly Destination[] {
  if (!isFields(answer)) return [];
  return listOf(answer.destinations)
    .slice(0, MAX_DESTINATIONS)
    .flatMap((json) => {
      const name = textIn(json, 'name');
      return name === ''
        ? []
        : [
            {
              name,
              kind: textIn(json, 'kind'),
              isFailing: json.state === 'failing',
              waiting: numberIn(json, 'waiting') ?? 0,
              delivered: numberIn(json, 'delivered') ?? 0,
              failed: numberIn(json, 'failed') ?? 0,
              problem: textIn(json, 'last_error'),
            },
          ];
    });
}
