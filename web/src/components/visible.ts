import { type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Whether the panel of a component is visible. */
export const Visible = createContext<Signal<boolean>>(signal(true));

export function useVisible(): Signal<boolean> {
  return useContext(Visible);
}
