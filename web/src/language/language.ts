/** The language of the page. English is the language of the code: its texts are always there. */

export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

const STORED = 'oasis.language';
let current: Language = 'en';

/** The language that the page speaks now. */
export function language(): Language {
  return current;
}

export function speak(wanted: Language): void {
  current = wanted;
}

/** The language that somebody has chosen in this browser; English without a choice. */
export function chosenLanguage(): Language {
  try {
    const stored = localStorage.getItem(STORED);
    return LANGUAGES.find((known) => known === stored) ?? 'en';
  } catch {
    return 'en';
  }
}

/** Keeps the choice, and loads the page again: texts are taken when the code of a part is loaded. */
export function chooseLanguage(wanted: Language): void {
  try {
    localStorage.setItem(STORED, wanted);
    location.reload();
  } catch {
    // Without storage the choice would be lost with the page.
  }
}
