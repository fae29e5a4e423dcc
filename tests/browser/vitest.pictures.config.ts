import { defineConfig } from 'vitest/config';

/** Takes the pictures of docs/images (`make pictures`); not a test. */
export default defineConfig({
  test: {
    include: ['pictures/*.pictures.ts'],
    environment: 'node',
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
