import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*.test.ts'],
    environment: 'node',
    // Files run one after another: processes and browser share few cores, and times must mean something.
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Timeout that suffices on a busy machine; a correct page never needs it.
    expect: { poll: { timeout: 20_000 } },
  },
});
