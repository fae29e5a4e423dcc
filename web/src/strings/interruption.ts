import type { Interruption } from '../series/causes.ts';

/** What a time is called that has no samples and lasts until now. */
export const interruptionStrings = {
  interruption: {
    lasting: (cause: string, since: string): string => `${reasons.get(cause) ?? cause}, since ${since}`,
  },
};

const reasons = new Map<string, string>(
  Object.entries({
    silent: 'silent: no sample has come',
    disabled: 'the probe is disabled',
    node_offline: 'the node is offline',
    reconnected: 'the page has no connection to the DAC',
    no_value: 'the expression has no value',
  } satisfies Record<Interruption, string>),
);
