import { defineConfig } from 'vitest/config';
import { FailedTests } from './harness/failed_tests.ts';
import { SecondsPerFile } from './harness/seconds_per_file.ts';

/**
 * Files run in two lanes, one after the other. A file that measures time (milliseconds until something is shown, long tasks,
 * a recovery in three seconds) ends in `.timing.test.ts`: these run one at a time, while nothing else does. All other files
 * run two at a time, each with processes of its own, and may take as long as they need.
 */
const TIMING = '*.timing.test.ts';

export default defineConfig({
  test: {
    environment: './harness/worker.ts',
    setupFiles: ['./harness/each_file.ts'],
    // Files of a worker share its Chromium, which only modules that live as long as the worker can hold.
    isolate: false,
    // These suffice on a busy machine; a correct page never needs them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', new SecondsPerFile(), new FailedTests()],
    projects: [
      {
        extends: true,
        test: { name: 'timing', include: [TIMING], maxWorkers: 1, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'pairs',
          include: ['*.test.ts'],
          exclude: [TIMING],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
