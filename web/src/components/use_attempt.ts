import { type ReadonlySignal, useSignal } from '@preact/signals';

/** Does what may fail, and says why it did: `problem` is that of the last attempt, or empty. */
export function useAttempt(): {
  readonly problem: ReadonlySignal<string>;
  readonly attempt: (act: () => Promise<unknown>) => void;
} {
  const problem = useSignal('');
  const attempt = (act: () => Promise<unknown>) => {
    problem.value = '';
    act().catch((error: unknown) => {
      problem.value = error instanceof Error ? error.message : String(error);
    });
  };
  return { problem, attempt };
}
