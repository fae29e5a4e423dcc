import { defineConfig } from 'vitest/config';

/** Not a test: takes the pictures of docs/images (`make pictures`). */
export default defineConfig({
  test: { include: ['pictures/*.ts'], environment: 'node', testTimeout: 120_000, hookTimeout: 60_000 },
});
