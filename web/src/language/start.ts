import { strings } from '../strings.ts';
import { chosenLanguage, type Language, speak } from './language.ts';
import { type Translation, translate } from './translation.ts';

/** The files of languages, loaded when they are spoken. */
const FILES: Record<Exclude<Language, 'en'>, () => Promise<Translation>> = {
  de: async () => (await import('./de.ts')).de,
};

/** Loads the chosen language, before anything is drawn. A page that cannot load it speaks English. */
export async function startLanguage(): Promise<void> {
  const wanted = chosenLanguage();
  if (wanted === 'en') return;
  try {
    translate(strings, await FILES[wanted]());
  } catch {
    return;
  }
  speak(wanted);
  document.documentElement.lang = wanted;
}
