/** A text as the page shows it: hidden characters are written out. */
export function shown(text: string): string {
  return text.replace(
    /[\u202a-\u202e\u2066-\u2069]/g,
    (hidden) => `\\u{${hidden.charCodeAt(0).toString(16)}}`,
  );
}
