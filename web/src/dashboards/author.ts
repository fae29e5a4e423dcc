import { strings } from '../strings/strings.ts';

const words = strings.layouts;

/** Who has saved a version, from an author such as `person:ada http 10.1.2.3:40000`. */
export function authorOf(by: string): string {
  if (by === '') return words.file;
  const [who] = by.split(' ');
  if (who === 'http') return words.someone;
  return who.replace(/^(person|program):/, '');
}
