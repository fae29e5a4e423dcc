import { parseReference, type Reference } from './page_reference.ts';

let reference: Promise<Reference> | undefined;

/** Loads the reference when it is read for the first time. */
export function loadReference(): Promise<Reference> {
  reference ??= import('../../../docs/reference/page.md?raw').then(
    ({ default: text }) => parseReference(text),
    (error) => {
      // The next one who asks tries again.
      reference = undefined;
      throw error;
    },
  );
  return reference;
}
