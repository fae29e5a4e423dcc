import { signal } from '@preact/signals';
import type { IHeaderActionsRenderer } from 'dockview-core';
import { h, render } from 'preact';
import { PanelHelpButton } from '../help/panel_help_button.tsx';

/** What stands at the end of a row of tabs, about the panel in front. */
export class HeadActions implements IHeaderActionsRenderer {
  readonly element = document.createElement('div');
  private readonly id = signal<string | undefined>(undefined);
  private end: (() => void) | undefined;

  constructor() {
    this.element.className = 'dock-actions';
  }

  init({ api, group }: Parameters<IHeaderActionsRenderer['init']>[0]): void {
    this.id.value = group.activePanel?.id;
    const listener = api.onDidActivePanelChange(({ panel }) => {
      this.id.value = panel?.id;
    });
    this.end = () => listener.dispose();
    render(h(ActionsOf, { id: this.id }), this.element);
  }

  dispose(): void {
    this.end?.();
    this.end = undefined;
    render(null, this.element);
  }
}

function ActionsOf({ id }: { id: { readonly value: string | undefined } }) {
  return h(PanelHelpButton, { id: id.value });
}
