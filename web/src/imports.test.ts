import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { importsIn } from './imports_in.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LARGEST_CYCLE = 3;

it.each(['web/src', 'sdk/typescript/src'])('%s has no import cycle of more than three files', (folder) => {
  const large = cycles(importsIn(join(ROOT, folder))).filter((files) => files.length > LARGEST_CYCLE);
  expect(large.map((files) => files.map((file) => relative(ROOT, file)))).toEqual([]);
});

it('finds a cycle and leaves out the files that only lead into it', () => {
  const imports = new Map([
    ['in', ['a']],
    ['a', ['b']],
    ['b', ['c', 'out']],
    ['c', ['a']],
    ['out', []],
  ]);
  expect(cycles(imports).map((files) => files.sort())).toEqual([['a', 'b', 'c']]);
});

/** Groups of files that all reach each other (Tarjan's strongly connected components, without single files). */
function cycles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const place = order.size;
    order.set(file, place);
    let low = place;
    stack.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === place) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1) found.push(group);
    }
    return low;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return found;
}
