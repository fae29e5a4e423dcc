import { expect, it } from 'vitest';
import { parseOtherPages } from './other_pages.ts';

it('reads names and origins', () => {
  const pages = [
    { name: 'hall-2', address: 'http://hall-2:7080' },
    { name: 'relay', address: 'https://relay.example.org/page#x' },
  ];
  expect(parseOtherPages({ pages })).toEqual([
    { name: 'hall-2', address: 'http://hall-2:7080' },
    { name: 'relay', address: 'https://relay.example.org' },
  ]);
});

it('leaves out everything that is no page, and the rest is bounded', () => {
  const bad = [
    'javascript:alert(1)',
    'data:text/html,x',
    'http://user:secret@hall-2/',
    `http://${'n'.repeat(400)}/`,
    'http://a%20b/',
    'http://[::1]:7070/',
    7,
    null,
  ];
  const pages = bad.map((address) => ({ name: 'x', address }));
  expect(parseOtherPages({ pages: [...pages, { name: 7, address: 'http://a' }, 'x'] })).toEqual([]);
  for (const none of [undefined, [], { pages: 'x' }, 'x']) expect(parseOtherPages(none)).toEqual([]);
  const many = Array.from({ length: 900 }, () => ({ name: 'n'.repeat(900), address: 'http://a:1' }));
  expect(parseOtherPages({ pages: many })).toHaveLength(16);
  expect(parseOtherPages({ pages: many })[0].name).toHaveLength(100);
});
