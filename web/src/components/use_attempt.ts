import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { isConnected } from '../state/store.ts';

/** Runs an action that may fail. `problem` is the error of the last attempt, or empty; a new connection clears it. */
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
