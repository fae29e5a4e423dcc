import { describe, expect, it } from 'vitest';
import type { PaletteEntry } from './entry.ts';
import { MAX_LISTED, MOST_ENTRIES, Search } from './search.ts';

function entry(title: string): PaletteEntry {
  return { id: title, kind: 'instance', title };
}

function titles(search: Search): string[] {
  return search.found.map(({ entry }) => entry.title);
}

function* many(count: number): Iterable<PaletteEntry> {
  for (let index = 0; index < count; index++) yield entry(`plant ${index % 97}/engine ${index}`);
}

/** Answers true at every question after the first ones. */
function overAfter(questions: number): () => boolean {
  let asked = 0;
  return () => ++asked > questions;
}

const never = () => false;

describe('a search', () => {
  it('lists everything in order while nothing is typed', () => {
    const search = new Search([entry('b'), entry('a')]);
    search.look('');
    expect(search.step(never)).toBe(true);
    expect(titles(search)).toEqual(['b', 'a']);
  });

  it('works in pieces, and finds the same', () => {
    const [whole, pieces] = [new Search(many(5000)), new Search(many(5000))];
    whole.look('engine 7');
    whole.step(never);
    pieces.look('engine 7');
    let count = 1;
    while (!pieces.step(overAfter(0))) count++;
    expect(count).toBeGreaterThan(10);
    expect(titles(pieces)).toEqual(titles(whole));
    expect(pieces.count).toBe(whole.count);
  });

  it('finds the same by narrowing as from the beginning, wherever it was interrupted', () => {
    const typed = 'plant 13 eng 4';
    for (let interrupted = 0; interrupted < 6; interrupted++) {
      const [narrowed, fresh] = [new Search(many(3000)), new Search(many(3000))];
      for (let length = 1; length <= typed.length; length++) {
        narrowed.look(typed.slice(0, length));
        narrowed.step(overAfter(length % 3 === 0 ? interrupted : 1000));
      }
      narrowed.step(never);
      fresh.look(typed);
      fresh.step(never);
      expect(titles(narrowed)).toEqual(titles(fresh));
      expect(narrowed.count).toBe(fresh.count);
    }
  });

  it('finds more again when less is typed', () => {
    const search = new Search([entry('pump'), entry('plant')]);
    for (const typed of ['pu', 'p']) {
      search.look(typed);
      search.step(never);
    }
    expect(titles(search).sort()).toEqual(['plant', 'pump']);
  });

  it('lists the best, counts all, and reads no more than it may', () => {
    const search = new Search(many(MOST_ENTRIES + 1000));
    search.look('engine');
    search.step(never);
    expect(search.found).toHaveLength(MAX_LISTED);
    expect(search.count).toBe(MOST_ENTRIES);
  });

  it('puts entries forward that have a bonus', () => {
    const search = new Search([entry('pump 1'), entry('pump 2')], ({ title }) =>
      title === 'pump 2' ? 9 : 0,
    );
    search.look('pump');
    search.step(never);
    expect(titles(search)).toEqual(['pump 2', 'pump 1']);
  });
});
