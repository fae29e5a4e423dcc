import { expect, it } from 'vitest';
import { openDialog, takeTyped, typeAhead } from './dialogs.ts';

const press = (key: string, ctrlKey = false) =>
  typeAhead({ key, ctrlKey, metaKey: false, altKey: false } as KeyboardEvent);

it('keeps what is typed for the palette before it is there, once', () => {
  openDialog.value = 'palette';
  expect([...'abc', 'Backspace', 'Shift'].map((key) => press(key))).toEqual([true, true, true, true, false]);
  expect(press('d', true)).toBe(false);
  expect([takeTyped(), takeTyped()]).toEqual(['ab', '']);
  for (let count = 0; count < 300; count++) press('x');
  expect(takeTyped()).toHaveLength(200);
});

it('forgets it with Escape, which closes the palette', () => {
  press('a');
  expect(press('Escape')).toBe(true);
  expect([openDialog.value, takeTyped()]).toEqual([undefined, '']);
});
