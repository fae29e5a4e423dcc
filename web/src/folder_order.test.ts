import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { importsIn } from './imports_in.ts';

const SOURCES = fileURLToPath(new URL('.', import.meta.url));

/**
 * The folders of the page by layer. A folder imports only from those before it, types included. `panels/*` is the folder of
 * one panel: no panel imports another one.
 */
const LAYERS = {
  wire: ['wire'],
  stream: ['text', 'format', 'series', 'expressions', 'fleet', 'past', 'stream/doors', 'stream'],
  state: ['strings', 'scout', 'sql', 'traces', 'going_on', 'api', 'alarms', 'logs', 'rules', 'state'],
  charts: ['charts', 'components'],
  panels: ['panels/shared', 'panels/*', 'panels'],
  shell: ['help', 'layout', 'dashboards', 'commands', 'raw_export', 'palette', 'shell', '.'],
};
const ORDER = Object.values(LAYERS).flat();

/** The imports between folders of the page; those of tests are not counted. */
const imports = [...importsIn(SOURCES)]
  .map(([from, to]) => [relative(SOURCES, from), to.map((file) => relative(SOURCES, file))] as const)
  .filter(([from]) => !from.includes('.test.') && from !== 'imports_in.ts');

function rankOf(file: string): number {
  const folder = dirname(file);
  const rank = ORDER.indexOf(folder);
  return rank < 0 && dirname(folder) === 'panels' ? ORDER.indexOf('panels/*') : rank;
}

it('puts each folder of the page into a layer', () => {
  expect(imports.map(([from]) => from).filter((file) => rankOf(file) < 0)).toEqual([]);
  const used = new Set(imports.map(([from]) => rankOf(from)));
  expect(ORDER.filter((_, rank) => !used.has(rank))).toEqual([]);
});

it('imports only from folders of the same layer and the layers below, in their order', () => {
  const upward = imports.flatMap(([from, to]) =>
    to
      .filter((file) => dirname(file) !== dirname(from) && rankOf(file) >= rankOf(from))
      .map((file) => `${from} imports ${file}`),
  );
  expect(upward).toEqual([]);
});
