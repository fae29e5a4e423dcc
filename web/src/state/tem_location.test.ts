import { expect, it } from 'vitest';
import { addressWith, parseTemLocation, splitFragment } from './tem_location.ts';

it('reads addresses as people type them', () => {
  expect(parseTemLocation(' tem.example.org:7000 ')).toBe('http://tem.example.org:7000/');
  expect(parseTemLocation('https://tem.example.org')).toBe('https://tem.example.org/');
  expect(parseTemLocation('127.0.0.1:7000')).toBe('http://127.0.0.1:7000/');
  for (const text of [
    '',
    ' ',
    'javascript:alert(1)',
    'ftp://tem',
    'http://ada:secret@tem',
    'a b',
    'x'.repeat(400),
  ])
    expect(parseTemLocation(text), text).toBeUndefined();
});

it('hands the layout and the location over in the fragment of an address', () => {
  const address = addressWith('http://hall-2:7070/', '#view=abc', 'http://tem:7000/');
  expect(address).toBe('http://hall-2:7070/#tem=http%3A%2F%2Ftem%3A7000%2F&view=abc');
  expect(splitFragment(new URL(address).hash)).toEqual({ tem: 'http://tem:7000/', rest: '#view=abc' });
  expect(splitFragment('#tem=http%3A%2F%2Ftem')).toEqual({ tem: 'http://tem/', rest: '' });
  expect(addressWith('http://hall-2:7070/', '')).toBe('http://hall-2:7070/');
});

it('takes nothing from other fragments, and no location that cannot be opened', () => {
  expect(splitFragment('#view=abc')).toBeUndefined();
  expect(splitFragment('#tem=javascript%3Aalert(1)&view=abc')).toEqual({ tem: undefined, rest: '#view=abc' });
  expect(splitFragment('#tem=%E0%A4%A&watch=a/b')).toEqual({ tem: undefined, rest: '#watch=a/b' });
});
