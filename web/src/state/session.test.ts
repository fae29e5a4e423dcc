import { beforeEach, expect, it } from 'vitest';
import { mustSignIn, who, whoIn } from './session.ts';

beforeEach(() => {
  who.value = undefined;
});

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
