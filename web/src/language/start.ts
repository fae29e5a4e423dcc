import { strings } from '../strings.ts';
import { chosenLanguage, type Language, speak } from './language.ts';
import type { PartTranslation } from './part_translation.ts';
import { learn } from './parts.ts';
import { type Translation, translate } from './translation.ts';

/** The files of languages, loaded when they are spoken. */
const FILES: Record<Exclude<Language, 'en'>, () => Promise<readonly [Translation, PartTranslation]>> = {
  de: async () => {
    const [{ de }, { deParts }] = await Promise.all([import('./de.ts'), import('./de_parts.ts')]);
    return [de, deParts];
  },
};

/** Loads the chosen language, before anything is drawn. A page that cannot load it speaks English. */
export async function startLanguage(): Promise<void> {
  const wanted = chosenLanguage();
  if (wanted === 'en') return;
  try {
    const [texts, parts] = await FILES[wanted]();
    translate(strings, texts);
    learn(parts);
  } catch {
    return;
  }
  speak(wanted);
  document.documentElement.lang = wanted;
}
