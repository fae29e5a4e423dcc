import type { Environment } from 'vitest/runtime';

type End = () => Promise<unknown>;

declare global {
  /** Ends a process that the files of a worker share, when the worker ends. */
  var atWorkerEnd: (end: End) => void;
}

/** The environment of Node, whose workers end what their files share. */
export default {
  name: 'worker',
  viteEnvironment: 'ssr',
  setup(global: typeof globalThis) {
    const ends: End[] = [];
    global.atWorkerEnd = (end) => ends.push(end);
    return {
      async teardown() {
        for (const end of ends) await end();
      },
    };
  },
} satisfies Environment;
