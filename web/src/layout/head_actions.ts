import { type Signal, signal } from '@preact/signals';
import type { DockviewApi, IHeaderActionsRenderer } from 'dockview-core';
import { h, render } from 'preact';
import { IconButton } from '../components/icon.tsx';
import { PanelHelpButton } from '../help/panel_help_button.tsx';
import { titleOf } from '../state/panel_titles.ts';
import { findPanel } from '../state/panels.ts';
import { strings } from '../strings/strings.ts';
import { hasFullScreen, toggleFullScreen } from './full_screen.ts';

/** What stands at the end of a row of tabs, about the panel in front. */
export class HeadActions implements IHeaderActionsRenderer {
  readonly element = document.createElement('div');
  private readonly id = signal<string | undefined>(undefined);
  private readonly isMaximized = signal(false);
  private end: (() => void) | undefined;

  constructor() {
    this.element.className = 'dock-actions';
  }

  init({ api, group, containerApi }: Parameters<IHeaderActionsRenderer['init']>[0]): void {
    this.id.value = group.activePanel?.id;
    const listener = api.onDidActivePanelChange(({ panel }) => {
      this.id.value = panel?.id;
    });
    const follow = () => {
      this.isMaximized.value = containerApi.hasMaximizedGroup();
    };
    follow();
    const maximized = containerApi.onDidMaximizedGroupChange(follow);
    this.end = () => {
      listener.dispose();
      maximized.dispose();
    };
    const { id, isMaximized } = this;
    render(h(ActionsOf, { id, isMaximized, dock: containerApi }), this.element);
  }

  dispose(): void {
    this.end?.();
    this.end = undefined;
    render(null, this.element);
  }
}

function ActionsOf({ id, isMaximized, dock }: ActionsProps) {
  const spec = findPanel(id.value ?? '');
  if (!spec) return null;
  return [
    h(IconButton, {
      icon: 'maximize',
      label: (isMaximized.value ? strings.panels.restore : strings.panels.maximize)(titleOf(spec)),
      testId: 'panel-maximize',
      onClick: () => {
        const panel = dock.getPanel(spec.id);
        if (dock.hasMaximizedGroup()) dock.exitMaximizedGroup();
        else if (panel) dock.maximizeGroup(panel);
      },
    }),
    hasFullScreen() &&
      h(IconButton, {
        icon: 'screen',
        label: strings.panels.fullScreen(titleOf(spec)),
        testId: 'panel-full-screen',
        onClick: () => toggleFullScreen(dock.getPanel(spec.id)?.group.element),
      }),
    h(PanelHelpButton, { id: spec.id }),
  ];
}

interface ActionsProps {
  readonly id: Signal<string | undefined>;
  readonly isMaximized: Signal<boolean>;
  readonly dock: DockviewApi;
}
