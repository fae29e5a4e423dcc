import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepFragment, mustSignIn, restoreFragment, who, whoIn } from './session.ts';

beforeEach(() => {
  who.value = undefined;
});

afterEach(() => void vi.unstubAllGlobals());

it('asks nobody to sign in before the DAC has said who it is', () => {
  expect(mustSignIn.value).toBe(false);
});

it('asks a stranger to sign in, and nobody who may read something', () => {
  who.value = whoIn({ kind: 'stranger', name: '', verbs: [] });
  expect(mustSignIn.value).toBe(true);
  who.value = whoIn({ kind: 'local', name: '', verbs: ['read-live'] });
  expect(mustSignIn.value).toBe(false);
  who.value = whoIn({ kind: 'person', name: 'ada', verbs: ['read-past', 'sql'] });
  expect(mustSignIn.value).toBe(false);
});

it('ignores an answer of another form', () => {
  expect(whoIn(undefined)).toBeUndefined();
  expect(whoIn({ kind: 1, name: '', verbs: [] })).toBeUndefined();
  expect(whoIn({ kind: 'local', name: '', verbs: 'all' })).toBeUndefined();
});

/** An address and the storage of its tab. */
function tab(hash: string, storage = new Map<string, string>()) {
  const location = { hash, pathname: '/', search: '' };
  vi.stubGlobal('location', location);
  vi.stubGlobal('history', {
    replaceState: (_: unknown, __: string, to: string) => {
      location.hash = to.slice(1);
    },
  });
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, text: string) => storage.set(key, text),
    removeItem: (key: string) => storage.delete(key),
  });
  return { location, storage };
}

it('keeps the fragment of the address while a provider of identity has the window, once', () => {
  const { storage } = tab('#view=abc');
  keepFragment();
  const { location } = tab('', storage);
  restoreFragment();
  expect(location.hash).toBe('#view=abc');
  location.hash = '';
  restoreFragment();
  expect(location.hash).toBe('');
});

it('puts no kept fragment in place of another one, and works without storage', () => {
  const { storage } = tab('#view=abc');
  keepFragment();
  const { location } = tab('#watch=a/b', storage);
  restoreFragment();
  expect(location.hash).toBe('#watch=a/b');
  vi.stubGlobal('sessionStorage', undefined);
  keepFragment();
  restoreFragment();
  expect(location.hash).toBe('#watch=a/b');
});
