import { computed, signal } from '@preact/signals';

/** Dark or light. Follows the system until the user chooses. */

export type Theme = 'dark' | 'light';

const STORED = 'oasis.theme';
/** Undefined outside of a browser. */
const system = globalThis.matchMedia?.('(prefers-color-scheme: light)');
const systemTheme = signal<Theme>(system?.matches ? 'light' : 'dark');
const chosen = signal<Theme | undefined>(read());

export const theme = computed<Theme>(() => chosen.value ?? systemTheme.value);

export function startTheme(): void {
  system?.addEventListener('change', () => {
    systemTheme.value = system.matches ? 'light' : 'dark';
  });
  theme.subscribe((name) => {
    document.documentElement.dataset.theme = name;
  });
}

export function toggleTheme(): void {
  chosen.value = theme.peek() === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(STORED, chosen.value);
  } catch {
    // Without storage the theme lasts until the page is closed.
  }
}

function read(): Theme | undefined {
  try {
    const stored = localStorage.getItem(STORED);
    return stored === 'dark' || stored === 'light' ? stored : undefined;
  } catch {
    return undefined;
  }
}
