import type { Signal } from '@preact/signals';
import { lazy } from '../components/lazy.tsx';
import { findPanel } from '../state/panels.ts';
import { AutoPanel } from './auto_panel.tsx';
import { InstancePanel } from './instance_panel.tsx';
import { SeriesPanel } from './series_panel.tsx';
import type { PanelSpec } from './spec.ts';
import { Visible } from './visible.ts';

/** Loaded when they are used. */
const EventsPanel = lazy(async () => (await import('./events_panel.tsx')).EventsPanel);
const StatesPanel = lazy(async () => (await import('./states_panel.tsx')).StatesPanel);
const XyPanel = lazy(async () => (await import('./xy_panel.tsx')).XyPanel);
const SpectrumPanel = lazy(async () => (await import('./spectrum_panel.tsx')).SpectrumPanel);
const StatisticsPanel = lazy(async () => (await import('./statistics_panel.tsx')).StatisticsPanel);
const OverlayPanel = lazy(async () => (await import('./overlay_panel.tsx')).OverlayPanel);
const NumberPanel = lazy(async () => (await import('./number_panel.tsx')).NumberPanel);
const GaugePanel = lazy(async () => (await import('./gauge_panel.tsx')).GaugePanel);
const LedgerPanel = lazy(async () => (await import('./ledger_panel.tsx')).LedgerPanel);
const HistogramPanel = lazy(async () => (await import('./histogram_panel.tsx')).HistogramPanel);
const RosePanel = lazy(async () => (await import('./rose_panel.tsx')).RosePanel);
const AlarmsPanel = lazy(async () => (await import('./alarms_panel.tsx')).AlarmsPanel);
const TestRunsPanel = lazy(async () => (await import('./test_runs_panel.tsx')).TestRunsPanel);
const AlarmHistoryPanel = lazy(async () => (await import('./alarm_history_panel.tsx')).AlarmHistoryPanel);
const RulesPanel = lazy(async () => (await import('./rules_panel.tsx')).RulesPanel);
const LogsPanel = lazy(async () => (await import('./logs_panel.tsx')).LogsPanel);
const FleetPanel = lazy(async () => (await import('./fleet_panel.tsx')).FleetPanel);
const MapPanel = lazy(async () => (await import('./map_panel.tsx')).MapPanel);
const HeatPanel = lazy(async () => (await import('./heat_panel.tsx')).HeatPanel);
const TracesPanel = lazy(async () => (await import('./traces_panel.tsx')).TracesPanel);
const SqlPanel = lazy(async () => (await import('./sql_panel.tsx')).SqlPanel);
const TextPanel = lazy(async () => (await import('./text_panel.tsx')).TextPanel);

/** A panel's content, chosen by what it shows. */
export function PanelFrame({ id, isVisible }: { id: string; isVisible: Signal<boolean> }) {
  const spec = findPanel(id);
  if (!spec) return null;
  return (
    <Visible.Provider value={isVisible}>
      <Body key={keyOf(spec)} spec={spec} />
    </Visible.Provider>
  );
}

/** A panel begins anew with other content, but for one that keeps its place in a long list. */
function keyOf(spec: PanelSpec): string {
  return spec.kind === 'fleet' ? spec.id : JSON.stringify(spec);
}

function Body({ spec }: { spec: PanelSpec }) {
  switch (spec.kind) {
    case 'instance':
      return <InstancePanel target={spec.target} />;
    case 'auto':
      return <AutoPanel id={spec.id} target={spec.target} />;
    case 'series':
      return <SeriesPanel spec={spec} />;
    case 'states':
      return <StatesPanel spec={spec} />;
    case 'gauge':
      return <GaugePanel spec={spec} />;
    case 'histogram':
      return <HistogramPanel spec={spec} />;
    case 'events':
      return <EventsPanel spec={spec} />;
    case 'logs':
      return <LogsPanel spec={spec} />;
    case 'rose':
      return <RosePanel spec={spec} />;
    case 'xy':
      return <XyPanel spec={spec} />;
    case 'spectrum':
      return <SpectrumPanel spec={spec} />;
    case 'statistics':
      return <StatisticsPanel spec={spec} />;
    case 'number':
      return <NumberPanel spec={spec} />;
    case 'map':
      return <MapPanel spec={spec} />;
    case 'heat':
      return <HeatPanel spec={spec} />;
    case 'traces':
      return <TracesPanel spec={spec} />;
    case 'sql':
      return <SqlPanel spec={spec} />;
    case 'text':
      return <TextPanel spec={spec} />;
    case 'overlay':
      return <OverlayPanel spec={spec} />;
    case 'fleet':
      return <FleetPanel spec={spec} />;
    case 'ledger':
      return <LedgerPanel />;
    case 'alarms':
      return <AlarmsPanel />;
    case 'alarm-history':
      return <AlarmHistoryPanel />;
    case 'rules':
      return <RulesPanel />;
    case 'test-runs':
      return <TestRunsPanel />;
  }
}
