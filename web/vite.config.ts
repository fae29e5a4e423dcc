import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { shownHelp } from './src/help/page_reference.ts';

/** A rule of a style sheet without rules within it. */
const RULE = /([^{}@;/]*)\{[^{}]*\}/g;

/** What the docking library has styles for and the page lacks: themes, as it has its own, panes that fold, and groups of tabs. */
const UNUSED = ['.dockview-theme-', '.dv-pane', '.dv-tab-group'];

const withoutUnusedStyles: Plugin = {
  name: 'without-unused-styles',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/dockview.css')) return;
    const isUnused = (selector: string) => UNUSED.some((part) => selector.includes(part));
    return code.replace(RULE, (rule, selectors: string) =>
      selectors.split(',').every(isUnused) ? '' : rule,
    );
  },
};

/** Leaves out of the help what the page does not show: what precedes its sections, pictures, and links to other pages of the docs. */
const helpAlone: Plugin = {
  name: 'help-alone',
  enforce: 'pre',
  load(id) {
    if (!id.endsWith('/docs/reference/page.md?raw')) return;
    const text = readFileSync(id.replace('?raw', ''), 'utf8');
    return `export default ${JSON.stringify(shownHelp(text))}`;
  },
};

// The page is served with `default-src 'self'`: nothing may end up inline or in a data: URL.
export default defineConfig({
  base: './',
  plugins: [withoutUnusedStyles, helpAlone],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    // The licenses of what is bundled ask that their texts come with it.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      input: { index: 'index.html', scout: 'src/scout/scout.ts' },
      output: {
        // The DAC sends the scout with a policy of its own (crates/api/src/other_pages.rs), so it needs a fixed name.
        entryFileNames: ({ name }) => (name === 'scout' ? 'scout.js' : 'assets/[name]-[hash].js'),
        // Code that every visit loads is one file: many small ones share no compression.
        codeSplitting: {
          groups: [{ name: 'page', tags: ['$initial'], test: (id) => !id.includes('/src/scout/') }],
        },
      },
    },
  },
  worker: { format: 'es' },
  server: {
    proxy: {
      '/ws': { target: 'ws://127.0.0.1:7070', ws: true },
      '/api': 'http://127.0.0.1:7070',
      '/healthz': 'http://127.0.0.1:7070',
    },
  },
  test: {
    // Beside a build, a test of many random values takes longer than the 5 s that are usual.
    testTimeout: 60_000,
    include: ['src/**/*.test.ts', 'src/**/*.test.tsx'],
    environment: 'node',
  },
});
