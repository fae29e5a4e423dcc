import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['bench/*.bench.ts'],
    environment: './harness/worker.ts',
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
