import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { isConnected } from '../state/store.ts';

/** Does what may fail, and says why it did: `problem` is that of the last attempt, or empty; over when the DAC is back. */
export function useAttempt(): {
  readonly problem: ReadonlySignal<string>;
  readonly attempt: (act: () => Promise<unknown>) => void;
} {
  const problem = useSignal('');
  useSignalEffect(() => {
    if (isConnected.value) problem.value = '';
  });
  const attempt = (act: () => Promise<unknown>) => {
    problem.value = '';
    act().catch((error: unknown) => {
      problem.value = error instanceof Error ? error.message : String(error);
    });
  };
  return { problem, attempt };
}
