import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { IconButton } from '../components/icon.tsx';
import { lazy } from '../components/lazy.tsx';
import { NameText } from '../components/name_text.tsx';
import { PanelHelpButton } from '../help/panel_help_button.tsx';
import { Dock } from '../layout/dock.ts';
import { startAll } from '../layout/restartable.ts';
import { geometry, loaded } from '../layout/saved.ts';
import { PanelFrame } from '../panels/panel_frame.tsx';
import { setDock } from '../state/active_dock.ts';
import { isTemAlone } from '../state/dacs.ts';
import { missing } from '../state/dashboard.ts';
import { sharedNames } from '../state/names.ts';
import { type PanelSpec, targetsOf } from '../state/panel_kinds.ts';
import { titleOf } from '../state/panel_titles.ts';
import { closePanel, panels, revealed } from '../state/panels.ts';
import { strings } from '../strings/strings.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { DacTable } from './dac_table.tsx';
import { Empty } from './empty.tsx';

const MissingDashboard = lazy(async () => (await import('./missing_dashboard.tsx')).MissingDashboard);

/** The panels: docked on a wide screen, one below the other on a narrow one. */
export function Workspace() {
  if (isTemAlone.value) return <DacChoice />;
  return (
    <main class="main" aria-label={strings.main.label}>
      {panels.value.length === 0 && (missing.value ? <MissingDashboard /> : <Empty />)}
      {isNarrow.value ? <Stack /> : <Docked />}
    </main>
  );
}

/** A TEM has no samples: its page leads to the DACs, which show the panels. */
function DacChoice() {
  return (
    <main class="main" aria-label={strings.main.label}>
      <section class="dac-choice" data-testid="dac-choice">
        <h2>{strings.dacs.title}</h2>
        <p>{strings.dacs.alone}</p>
        <DacTable />
      </section>
    </main>
  );
}

function Docked() {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.current) return;
    const dock: Dock = new Dock(place.current, closePanel, () => {
      geometry.value = dock.geometry();
    });
    return startAll([
      () => () => dock.dispose(),
      () => {
        setDock(dock);
        return () => setDock(undefined);
      },
      () =>
        loaded.subscribe(() => {
          dock.clear();
          const shape = geometry.peek();
          if (shape) dock.restore(shape);
          dock.sync(panels.peek());
        }),
      () => panels.subscribe((specs) => dock.sync(specs)),
      () => sharedNames.subscribe(() => dock.sync(panels.peek())),
    ]);
  }, []);
  return <div class="dock" ref={place} data-testid="dock" />;
}

function Stack() {
  const always = useSignal(true);
  const place = useRef<HTMLDivElement>(null);
  const shown = revealed.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever a panel is requested
  useEffect(() => {
    const found = [...(place.current?.children ?? [])].find(
      (element) => element instanceof HTMLElement && element.dataset.panel === shown?.id,
    );
    if (shown) found?.scrollIntoView({ block: 'start' });
    // A page that becomes narrow later stays where it is.
    return () => {
      if (revealed.peek() === shown) revealed.value = undefined;
    };
  }, [shown]);
  return (
    <div class="stack" data-testid="stack" ref={place}>
      {chartsFirst(panels.value).map((spec) => (
        <section
          key={spec.id}
          class={`stack-panel is-${spec.kind}`}
          aria-label={titleOf(spec)}
          data-panel={spec.id}
        >
          {spec.kind !== 'instance' && (
            <header class="stack-head">
              <h2 title={titleOf(spec)}>
                <NameText name={titleOf(spec)} />
              </h2>
              <PanelHelpButton id={spec.id} />
              <IconButton
                icon="close"
                label={strings.panels.close(titleOf(spec))}
                testId="close-panel"
                onClick={() => closePanel(spec.id)}
              />
            </header>
          )}
          <div class="stack-body">
            <PanelFrame id={spec.id} isVisible={always} />
          </div>
        </section>
      ))}
    </div>
  );
}

/** Returns the panels with a chart before the card of its instance: on a small screen, the first screen has only one of them. */
function chartsFirst(specs: readonly PanelSpec[]): PanelSpec[] {
  const sorted: PanelSpec[] = [];
  for (const spec of specs) {
    const before = sorted.at(-1);
    if (before?.kind !== 'instance' || !isOf(spec, before.target)) sorted.push(spec);
    else sorted.splice(-1, 0, spec);
  }
  return sorted;
}

function isOf(spec: PanelSpec, target: Target): boolean {
  return spec.kind !== 'instance' && targetsOf(spec).some((other) => keyOf(other) === keyOf(target));
}

/** Whether the window is too narrow for panels side by side. The width equals that of the style sheets. */
const narrow = matchMedia('(max-width: 52rem)');

const isNarrow = signal(narrow.matches);

narrow.addEventListener('change', () => {
  isNarrow.value = narrow.matches;
});
