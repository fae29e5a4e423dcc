const kinds = new Map([
  ['alertmanager', 'Alertmanager'],
  ['webhook', 'Webhook'],
  ['mail', 'Mail'],
  ['exec', 'Program'],
]);

/** The destinations of notifications. They are loaded when somebody opens their list. */
export const destinationStrings = {
  destinations: {
    none: 'Nobody is notified of alarms: add a table [notify.NAME] to the configuration of the DAC.',
    reading: 'Reading the destinations\u2026',
    stale: (problem: string) => `These figures may be old: ${problem}`,
    /** Words of a newer DAC as they are. */
    kind: (kind: string): string => kinds.get(kind) ?? kind,
    failing: 'Failing',
    waiting: 'Waiting',
    idle: 'Nothing sent yet',
    ok: 'Working',
    lastProblem: (problem: string) => `last attempt: ${problem}`,
    counts: (delivered: string, waiting: string, failed: string) =>
      `${delivered} delivered, ${waiting} waiting, ${failed} given up`,
    test: 'Test',
    testOf: (name: string) => `Send a test notification to ${name}`,
    testing: 'Testing\u2026',
    accepted: 'Test accepted',
    refused: (problem: string) => `Test failed: ${problem}`,
    tooMany: (problem: string) => `${problem}. The DAC sends six tests a minute at most.`,
  },
};
