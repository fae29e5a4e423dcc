import { describe, expect, it } from 'vitest';
import { matchedIn, scoreOf, searchable } from './match.ts';

function best(titles: readonly string[], typed: string): string | undefined {
  const words = typed.toLowerCase().split(' ');
  return titles
    .map((title) => ({ title, score: scoreOf(searchable(title), words) ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .at(0)?.title;
}

describe('the best match', () => {
  it('is the whole title, then its beginning, then the beginning of a word, then any part', () => {
    const titles = ['the engine', 'engine 2', 'engine', 'rengine'];
    expect(best(titles, 'engine')).toBe('engine');
    expect(best(titles.slice(0, 2), 'engine')).toBe('engine 2');
    expect(best([titles[3], titles[0]], 'engine')).toBe('the engine');
  });

  it('has the letters in order, best at the beginnings of words', () => {
    expect(best(['network/eth0', 'memory'], 'neth')).toBe('network/eth0');
    expect(best(['LinuxMemoryProbe', 'lumpy'], 'lmp')).toBe('LinuxMemoryProbe');
    expect(best(['Set the rate of engine', 'Stop everything'], 'srate')).toBe('Set the rate of engine');
  });

  it('needs every word, in any order', () => {
    expect(best(['Disable engine', 'Enable engine'], 'engine disable')).toBe('Disable engine');
    expect(best(['engine'], 'engine pump')).toBeUndefined();
  });

  it('finds words of the detail, but prefers the title', () => {
    const [inTitle, inDetail] = [searchable('plant 7'), searchable('engine', 'on plant 7')];
    const score = (text: typeof inTitle) => scoreOf(text, ['plant']) ?? 0;
    expect(score(inDetail)).toBeGreaterThan(0);
    expect(score(inTitle)).toBeGreaterThan(score(inDetail));
  });

  it('does not take letters that are far apart', () => {
    expect(scoreOf(searchable(`a${' '.repeat(40)}b`), ['ab'])).toBeUndefined();
  });
});

describe('matched places', () => {
  it('are those of a whole word, or of single letters', () => {
    expect(matchedIn('Disable engine', ['engine'])).toEqual([[8, 14]]);
    expect(matchedIn('network/eth0', ['ne', 'eth0'])).toEqual([
      [0, 2],
      [8, 12],
    ]);
  });

  it('are none in a title whose lower case is longer', () => {
    expect(matchedIn('\u0130stanbul', ['stan'])).toEqual([]);
  });
});
