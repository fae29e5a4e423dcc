import { lazy } from '../components/lazy.tsx';
import { type DialogName, openDialog } from '../state/dialogs.ts';
import { isViewOnly } from '../state/mode.ts';
import { DacsDialog } from './dacs_dialog.tsx';
import { MomentDialog } from './moment_dialog.tsx';

/** Few visits need them. */
const HelpDialog = lazy(async () => (await import('./help_dialog.tsx')).HelpDialog);
const AddDialog = lazy(async () => (await import('./add_dialog.tsx')).AddDialog);
const LayoutDialog = lazy(async () => (await import('./layout_dialog.tsx')).LayoutDialog);
const NoteDialog = lazy(async () => (await import('./note_dialog.tsx')).NoteDialog);
const ControlDialog = lazy(async () => (await import('./control_dialog.tsx')).ControlDialog);
const LabelsDialog = lazy(async () => (await import('./labels_dialog.tsx')).LabelsDialog);
const PasswordDialog = lazy(async () => (await import('./password_dialog.tsx')).PasswordDialog);
const AccountsDialog = lazy(async () => (await import('./accounts_dialog.tsx')).AccountsDialog);
const AuditDialog = lazy(async () => (await import('./audit_dialog.tsx')).AuditDialog);
const PaletteDialog = lazy(async () => (await import('../palette/palette_dialog.tsx')).PaletteDialog);
const TopicDialog = lazy(async () => (await import('./topic_dialog.tsx')).TopicDialog);
const PreferencesDialog = lazy(async () => (await import('./preferences_dialog.tsx')).PreferencesDialog);
const WhyDialog = lazy(async () => (await import('./why_dialog.tsx')).WhyDialog);
const GapDialog = lazy(async () => (await import('./gap_dialog.tsx')).GapDialog);
const SettingsDialog = lazy(async () => (await import('./settings_dialog.tsx')).SettingsDialog);
const SampleExportDialog = lazy(async () => (await import('./sample_export_dialog.tsx')).SampleExportDialog);
const ImportDialog = lazy(async () => (await import('./import_dialog.tsx')).ImportDialog);

/** Dialogs that change nothing but what this browser shows. */
const VIEWING: ReadonlySet<DialogName | undefined> = new Set([
  'help',
  'moment',
  'topic',
  'preferences',
  'why',
  'gap',
]);

export function Dialogs() {
  const name = openDialog.value;
  if (isViewOnly && !VIEWING.has(name)) return null;
  switch (name) {
    case 'help':
      return <HelpDialog />;
    case 'add':
      return <AddDialog />;
    case 'layout':
      return <LayoutDialog />;
    case 'control':
      return <ControlDialog />;
    case 'labels':
      return <LabelsDialog />;
    case 'moment':
      return <MomentDialog />;
    case 'note':
      return <NoteDialog />;
    case 'accounts':
      return <AccountsDialog />;
    case 'password':
      return <PasswordDialog />;
    case 'audit-log':
      return <AuditDialog />;
    case 'dacs':
      return <DacsDialog />;
    case 'why':
      return <WhyDialog />;
    case 'gap':
      return <GapDialog />;
    case 'sample-export':
      return <SampleExportDialog />;
    case 'import':
      return <ImportDialog />;
    case 'palette':
      return <PaletteDialog />;
    case 'topic':
      return <TopicDialog />;
    case 'preferences':
      return <PreferencesDialog />;
    case 'settings':
      return <SettingsDialog />;
    default:
      return null;
  }
}
