import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*.test.ts'],
    environment: 'node',
    // Real processes and a real browser share few cores: one after another, so that times mean something.
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What a busy machine may take; a page that does what it should is never waited for so long.
    expect: { poll: { timeout: 20_000 } },
  },
});
