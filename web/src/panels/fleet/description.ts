import { lazy } from '../../components/lazy.tsx';
import { defaultFleet, type FleetSettings, parseFleet } from '../../fleet/settings.ts';
import { describePanel } from '../shared/description.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** Many nodes or instances at a glance. */
    readonly fleet: FleetSettings;
  }
}

export const fleet = describePanel<'fleet'>({
  kind: 'fleet',
  name: 'Fleet',
  Panel: lazy(async () => (await import('./fleet_panel.tsx')).FleetPanel),
  // A list of hundreds of rows needs the room.
  place: 'main',
  // The panel keeps its place in a long list.
  isContinued: true,
  parse: (json) => ({ kind: 'fleet', ...parseFleet(json) }),
  targets: () => [],
  title: ({ nodes }) => (nodes === '*' ? 'Fleet' : `Fleet \u00b7 ${nodes}`),
  choices: [
    {
      name: 'fleet',
      label: 'Fleet',
      about:
        'Thousands of nodes and instances: state, age, loss, alarms, and three metrics with their course.',
      from: 'nothing',
      build: () => ({ kind: 'fleet', ...defaultFleet }),
    },
  ],
});
