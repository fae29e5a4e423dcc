import { signal } from '@preact/signals';

/** Target that an address names besides a dashboard: `?node=plant-7&instance=engine`, or `?run=NAME`. */
export interface AddressTarget {
  readonly node?: string | undefined;
  readonly instance?: string | undefined;
  readonly run?: string | undefined;
}

const query = new URLSearchParams(globalThis.location?.search ?? '');
const named = (name: keyof AddressTarget) => query.get(name) || undefined;

/** What the address of the page names, until somebody chooses something else. */
export const wanted = signal<AddressTarget>({
  node: named('node'),
  instance: named('instance'),
  run: named('run'),
});

export function forgetWanted(): void {
  wanted.value = {};
}

/** Whether an instance is one of those that the address names. */
export function isWanted(target: { readonly node: string; readonly instance: string }): boolean {
  const { node, instance } = wanted.value;
  return (node ?? target.node) === target.node && (instance ?? target.instance) === target.instance;
}
