import { effect, signal } from '@preact/signals';
import type { ITabRenderer } from 'dockview-core';

import { partsOf } from '../format/name_parts.ts';
import { tellingNames } from '../state/names.ts';

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
    const shown = signal(api.title ?? title);
    const listener = api.onDidTitleChange((event) => {
      shown.value = event.title;
    });
    this.end = () => listener.dispose();
    const stop = effect(() => {
      this.show(shown.value);
      mark.title = this.tip(shown.value);
    });
    this.end = () => {
      stop();
      listener.dispose();
    };
    this.element.replaceChildren(this.title, mark);
  }

  /** Many titles begin alike: where one has no room, it is cut in its middle, as components/name_text.tsx does it. */
  private show(title: string): void {
    const parts = partsOf(title, tellingNames.value).map(({ from, to, stays }) => {
      const element = document.createElement('span');
      element.className = stays ? 'name-kept' : 'name-rest';
      element.textContent = title.slice(from, to);
      return element;
    });
    this.title.replaceChildren(...parts);
    this.title.title = title;
  }

  dispose(): void {
    this.end?.();
    this.end = undefined;
  }
}
