import { createDockview, type DockviewApi, type IContentRenderer } from 'dockview-core';
import { toggleFullScreen } from './full_screen.ts';
import 'dockview/dist/styles/dockview.css';
import { signal } from '@preact/signals';
import { type ComponentChild, h, render } from 'preact';
import { descriptionOf } from '../panels/descriptions.ts';
import { PanelFrame } from '../panels/panel_frame.tsx';
import type { ActiveDock } from '../state/active_dock.ts';
import { isViewOnly } from '../state/mode.ts';
import { type PanelSpec, targetsOf } from '../state/panel_kinds.ts';
import { titleOf } from '../state/panel_titles.ts';
import { firstOfTogether } from '../state/panels.ts';
import { strings } from '../strings/strings.ts';
import { keyOf } from '../wire/target.ts';
import type { Geometry } from './geometry.ts';
import { HeadActions } from './head_actions.ts';
import { Restartable } from './restartable.ts';
import { divide } from './side_by_side.ts';
import { Tab } from './tab.ts';

/** Maximum number of rows; further instances become tabs. */
const ROWS = 3;
/** Share of a chart in the width of its row. */
const CHART_SHARE = 0.64;

/** Share of the height for ledger, alarms and test runs, at the bottom. */
const BOOKS_SHARE = 0.28;

/** Share of the height for a panel of the main area, once it is not all of it any more. */
const MAIN_SHARE = 0.5;

/** Size in pixels from which a group is split for another panel. */
const WIDE = 640;
const HIGH = 420;

/** The only user of the docking library: places panels and reports what the user does with them. */
export class Dock implements ActiveDock {
  private readonly host: Restartable<DockviewApi>;
  private specs: readonly PanelSpec[] = [];
  /** Set while the page itself changes the layout. */
  private isBusy = false;

  constructor(
    private readonly element: HTMLElement,
    private readonly closed: (id: string) => void,
    private readonly changed: () => void,
  ) {
    this.host = new Restartable(
      () => this.create(),
      () => element.replaceChildren(),
    );
  }

  private get api(): DockviewApi {
    return this.host.current;
  }

  private create(): DockviewApi {
    const api = createDockview(this.element, {
      createComponent: ({ id }) => new Content(id),
      createTabComponent: () => new Tab(strings.panels.close),
      defaultTabComponent: 'tab',
      createRightHeaderActionComponent: () => new HeadActions(),
      messages: strings.panels.said,
      theme: { name: 'oasis', className: 'dockview-theme-oasis', gap: 0 },
      disableFloatingGroups: true,
      disableDnd: isViewOnly,
      locked: isViewOnly,
      noPanelsOverlay: 'emptyGroup',
      defaultRenderer: 'onlyWhenVisible',
      // The library's own tabs measure every row whenever one changes.
      scrollbars: 'native',
    });
    api.onDidRemovePanel((panel) => {
      if (!this.isBusy) this.closed(panel.id);
    });
    api.onDidLayoutChange(() => {
      if (!this.isBusy) this.changed();
    });
    return api;
  }

  /** Opens, closes and renames panels until the dock has the given ones. */
  sync(specs: readonly PanelSpec[]): void {
    this.specs = specs;
    const fresh = specs.filter(({ id }) => !this.api.getPanel(id));
    this.quietly(() => {
      const wanted = new Set(specs.map(({ id }) => id));
      for (const panel of [...this.api.panels]) {
        if (!wanted.has(panel.id)) this.api.removePanel(panel);
      }
      for (const spec of specs) {
        const panel = this.api.getPanel(spec.id);
        if (!panel) this.open(spec);
        else if (panel.title !== titleOf(spec)) panel.setTitle(titleOf(spec));
      }
      const [only] = fresh;
      const opened = fresh.length === 1 && placeOf(only) === 'main' && this.api.getPanel(only.id);
      if (opened && specs.length > 1) this.api.maximizeGroup(opened);
    });
  }

  geometry(): Geometry {
    return this.api.toJSON();
  }

  /** Restores a geometry. Panels that are missing in it are left to {@link sync}. */
  restore(geometry: Geometry): boolean {
    return this.quietly(() => {
      try {
        this.api.fromJSON(geometry);
        return true;
      } catch (error) {
        console.warn('the panels are placed anew, because their places cannot be read', error);
        this.host.clear();
        return false;
      }
    });
  }

  clear(): void {
    this.quietly(() => this.host.clear());
  }

  get activeId(): string | undefined {
    return this.api.activePanel?.id;
  }

  focus(id: string): void {
    this.api.getPanel(id)?.api.setActive();
  }

  toggleMaximized(): void {
    const panel = this.api.activePanel;
    if (!panel) return;
    if (this.api.hasMaximizedGroup()) this.api.exitMaximizedGroup();
    else this.api.maximizeGroup(panel);
  }

  toggleFullScreen(): void {
    toggleFullScreen(this.api.activePanel?.group.element);
  }

  /** Activates the next or the previous panel, over all groups. */
  step(by: 1 | -1): void {
    const { panels } = this.api;
    if (panels.length === 0) return;
    const at = panels.findIndex((panel) => panel.id === this.api.activePanel?.id);
    panels[(at + by + panels.length) % panels.length].api.setActive();
  }

  closeActive(): void {
    this.api.activePanel?.api.close();
  }

  dispose(): void {
    this.isBusy = true;
    this.host.dispose();
  }

  /** Opens a panel, or all that open together with it. */
  private open(spec: PanelSpec): void {
    if (this.api.hasMaximizedGroup()) this.api.exitMaximizedGroup();
    const first = this.api.getPanel(firstOfTogether.get(spec.id) ?? '');
    // A place that others share is not divided: they would lose it.
    if (!first || first.group.panels.length > 1) {
      this.add(spec);
      return;
    }
    const others = this.specs.filter(
      ({ id }) => firstOfTogether.get(id) === first.id && !this.api.getPanel(id),
    );
    const divided = others.map((other) => ({ id: other.id, component: other.kind, title: titleOf(other) }));
    divide(this.api, first, divided);
  }

  private add(spec: PanelSpec): void {
    const common = { id: spec.id, component: spec.kind, title: titleOf(spec) };
    const { panels } = this.api;
    const beside = this.siblings(spec);
    if (panels.length === 0) {
      this.api.addPanel(common);
      return;
    }
    if (placeOf(spec) === 'main') {
      const initialHeight = this.api.height * MAIN_SHARE;
      this.api.addPanel({ ...common, initialHeight, position: { direction: 'above' } });
      return;
    }
    if (placeOf(spec) === 'roomiest') {
      this.api.addPanel({ ...common, position: this.roomiest() });
      return;
    }
    if (placeOf(spec) === 'bottom') {
      const other = this.specs.find((each) => each.id !== spec.id && placeOf(each) === 'bottom');
      const position =
        other && this.api.getPanel(other.id) ? { referencePanel: other.id } : { direction: 'below' as const };
      this.api.addPanel({ ...common, initialHeight: this.api.height * BOOKS_SHARE, position });
      return;
    }
    if (placeOf(spec) === 'row') {
      const tables = this.specs.filter((other) => placeOf(other) === 'row' && this.api.getPanel(other.id));
      const last = tables.at(-1);
      const rows = new Set(tables.map((other) => this.api.getPanel(other.id)?.group.id)).size;
      if (rows < ROWS) this.api.addPanel({ ...common, position: { direction: 'below' } });
      else
        this.api.addPanel({
          ...common,
          position: { referencePanel: last?.id ?? panels[0].id, direction: 'within' },
        });
      return;
    }
    const partner = beside.find((other) => placeOf(other) !== 'row') ?? this.pair(beside);
    if (partner) {
      this.api.addPanel({
        ...common,
        inactive: this.specs.length > 2 && beside.length > 1,
        position: { referencePanel: partner.id, direction: 'within' },
      });
      return;
    }
    const table = beside.at(0);
    if (table) {
      const width = this.api.width * CHART_SHARE;
      this.api.addPanel({
        ...common,
        initialWidth: width,
        position: { referencePanel: table.id, direction: 'right' },
      });
      return;
    }
    this.api.addPanel({ ...common, position: this.roomiest() });
  }

  /** Returns the place with most room: a part of the largest group, or a tab of it if it is small. */
  private roomiest() {
    const largest = this.api.groups.reduce((found, group) =>
      group.width * group.height > found.width * found.height ? group : found,
    );
    const { width, height } = largest;
    const direction = width >= WIDE && width >= height ? 'right' : height >= HIGH ? 'below' : 'within';
    return { referenceGroup: largest, direction } as const;
  }

  /** Panels of the same instance that are open already. */
  private siblings(spec: PanelSpec): PanelSpec[] {
    const keys = new Set(targetsOf(spec).map(keyOf));
    return this.specs.filter(
      (other) =>
        other.id !== spec.id &&
        this.api.getPanel(other.id) !== undefined &&
        targetsOf(other).some((target) => keys.has(keyOf(target))),
    );
  }

  /** Returns a chart of an instance whose table is a tab beside that of this instance. */
  private pair(beside: readonly PanelSpec[]): PanelSpec | undefined {
    const group = beside.length > 0 ? this.api.getPanel(beside[0].id)?.group : undefined;
    if (!group || group.panels.length < 2) return undefined;
    for (const panel of group.panels) {
      const spec = this.specs.find(({ id }) => id === panel.id);
      const found = spec && this.siblings(spec).find((other) => placeOf(other) !== 'row');
      if (found) return found;
    }
    return undefined;
  }

  private quietly<T>(act: () => T): T {
    const before = this.isBusy;
    this.isBusy = true;
    try {
      return act();
    } finally {
      this.isBusy = before;
    }
  }
}

function placeOf({ kind }: PanelSpec) {
  return descriptionOf(kind).place;
}

/** A panel's content, drawn by Preact. */
class Content implements IContentRenderer {
  readonly element = document.createElement('div');
  private readonly isVisible = signal(true);
  private end: (() => void) | undefined;

  constructor(private readonly id: string) {
    this.element.className = 'panel-host';
  }

  init({ api }: Parameters<IContentRenderer['init']>[0]): void {
    this.isVisible.value = api.isVisible;
    const listener = api.onDidVisibilityChange((event) => {
      this.isVisible.value = event.isVisible;
    });
    this.end = () => listener.dispose();
    this.draw(h(PanelFrame, { id: this.id, isVisible: this.isVisible }));
  }

  dispose(): void {
    this.end?.();
    this.end = undefined;
    this.draw(null);
  }

  private draw(child: ComponentChild): void {
    render(child, this.element);
  }
}
