import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { Engine } from '../../../crates/pdl-gen/tests/typescript/engine.ts';
import { fromRow, toRow } from './index.ts';

const PAGE = readFileSync(new URL('../../../docs/sdk/typescript.md', import.meta.url), 'utf8');
const PDL = readFileSync(new URL('../../../crates/pdl-gen/tests/python/engine.pdl', import.meta.url), 'utf8');
const FOLDER = new URL('../dist/', import.meta.url);

/** Returns the code blocks of a language. */
function blocks(language: string): string[] {
  return Array.from(PAGE.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs')), ([, code]) => code!);
}

describe('the page of the documentation', () => {
  it('shows the PDL that the engine of these tests is generated from', () => {
    expect(blocks('pdl')).toEqual([PDL]);
  });

  it('shows code that runs and whose assertions pass', async () => {
    const code = blocks('ts').join('');
    const imports = Array.from(code.matchAll(/^import .*;$/gm), ([line]) => line);
    const path = new URL('documentation.ts', FOLDER);
    const engine = '../../../crates/pdl-gen/tests/typescript/engine.ts';
    const body = code.replace(/^import .*;$/gm, '');
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(path, `${imports.join('\n')}\n${body}\nexport {};\n`.replace('./engine.ts', engine));
    const [assert, log] = [vi.spyOn(console, 'assert'), vi.spyOn(console, 'log').mockReturnValue()];
    await import(/* @vite-ignore */ fileURLToPath(path)).finally(() => rmSync(path));
    expect(log).toHaveBeenCalledWith(1n, 2900);
    expect(assert.mock.calls).toEqual(assert.mock.calls.map(() => [true]));
    expect(assert.mock.calls.length).toBe(blocks('ts').join('').split('console.assert').length - 1);
  });

  it('shows the actual errors', () => {
    for (const run of [
      () => toRow({ ...Engine.create(), speed: 70000 }, Engine),
      () => toRow({ ...Engine.create(), mode: 7 as 6 }, Engine),
      () => fromRow(Uint8Array.of(0, 0, 0, 1, 0), Engine),
      () => fromRow(Uint8Array.of(4), Engine),
    ]) {
      let message = 'nothing is thrown';
      try {
        run();
      } catch (error) {
        ({ message } = error as Error);
      }
      expect(PAGE).toContain(`  ${message}\n`);
    }
  });
});
