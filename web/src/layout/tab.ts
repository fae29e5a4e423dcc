import type { ITabRenderer } from 'dockview-core';

import { halves } from '../components/name_text.tsx';

type Init = Parameters<ITabRenderer['init']>[0];

/**
 * The tab of a panel: its title, and a mark that closes it. The mark is for the pointer alone, because a tab contains no
 * buttons; the key x closes the active panel.
 */
export class Tab implements ITabRenderer {
  readonly element = document.createElement('div');
  private readonly title = document.createElement('div');
  private end: (() => void) | undefined;

  constructor(private readonly tip: (title: string) => string) {
    this.element.className = 'dv-default-tab';
    this.title.className = 'dv-default-tab-content';
  }

  init({ api, title }: Init): void {
    const mark = document.createElement('div');
    mark.className = 'dv-default-tab-action';
    mark.setAttribute('aria-hidden', 'true');
    // A press on the mark begins no drag of the tab.
    mark.addEventListener('pointerdown', (event) => event.preventDefault());
    mark.addEventListener('click', (event) => {
      event.preventDefault();
      api.close();
    });
    const name = (shown: string) => {
      // Many titles begin alike: where one has no room, it is cut in its middle.
      const parts = halves(shown).map((part) => {
        const element = document.createElement('span');
        element.textContent = part;
        return element;
      });
      this.title.replaceChildren(...parts);
      this.title.title = shown;
      mark.title = this.tip(shown);
    };
    name(api.title ?? title);
    const listener = api.onDidTitleChange((event) => name(event.title));
    this.end = () => listener.dispose();
    this.element.replaceChildren(this.title, mark);
  }

  dispose(): void {
    this.end?.();
  }
}
