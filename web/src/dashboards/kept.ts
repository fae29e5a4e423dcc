import { signal } from '@preact/signals';
import type { Fields } from '../wire/fields.ts';

/** The layout of the open dashboard as the DAC keeps it, with its variable. */
export const kept = signal<Fields>({});
