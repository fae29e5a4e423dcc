import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*.test.ts'],
    environment: 'node',
    // Files run one after another: processes and browser share few cores, and times must mean something.
    fileParallelism: false,
    // These suffice on a busy machine; a correct page never needs them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
