import { SEVERITIES } from '../alarms/alarm.ts';
import { alarmSource, attention } from '../alarms/book.ts';
import { exportCsv, exportPicture } from '../commands/export.ts';
import { IconButton } from '../components/icon.tsx';
import { openAlarms, worstOpen } from '../state/alarm_count.ts';
import { mayReadAuditLog } from '../state/audit_log.ts';
import { dacList } from '../state/dacs.ts';
import { openDialog } from '../state/dialogs.ts';
import { openSingle } from '../state/panels.ts';
import { mayAdminister } from '../state/session.ts';
import { temLocation } from '../state/tem_location.ts';
import { theme, toggleTheme } from '../state/theme.ts';
import { strings } from '../strings/strings.ts';

const words = strings.toolbar;

export function Toolbar() {
  return (
    <div class="toolbar" role="toolbar" aria-label={words.title}>
      <IconButton
        icon="search"
        label={strings.palette.open}
        testId="open-palette"
        onClick={() => open('palette')}
      />
      <DacsButton />
      <IconButton icon="add" label={words.add} testId="open-add" onClick={() => open('add')} />
      <Bell />
      <IconButton
        icon="ledger"
        label={words.ledger}
        testId="open-ledger"
        onClick={() => openSingle('ledger')}
      />
      <IconButton
        icon="flag"
        label={words.testRuns}
        testId="open-test-runs"
        onClick={() => openSingle('test-runs')}
      />
      <IconButton
        icon="control"
        label={words.control}
        testId="open-control"
        onClick={() => open('control')}
      />
      <IconButton icon="note" label={words.note} testId="open-note" onClick={() => open('note')} />
      <IconButton
        icon="image"
        label={words.picture}
        testId="export-picture"
        onClick={() => void exportPicture()}
      />
      <IconButton icon="table" label={words.csv} testId="export-csv" onClick={exportCsv} />
      <IconButton
        icon="download"
        label={words.samples}
        testId="open-sample-export"
        onClick={() => open('sample-export')}
      />
      <IconButton icon="layout" label={words.layout} testId="open-layout" onClick={() => open('layout')} />
      {mayAdminister.value && (
        <IconButton
          icon="people"
          label={strings.accounts.open}
          testId="open-accounts"
          onClick={() => open('accounts')}
        />
      )}
      <IconButton
        icon={theme.value === 'dark' ? 'light' : 'dark'}
        label={words.theme[theme.value]}
        testId="toggle-theme"
        onClick={toggleTheme}
      />
      {mayReadAuditLog.value && (
        <IconButton
          icon="audit"
          label={strings.auditLog.open}
          testId="open-audit-log"
          onClick={() => open('audit-log')}
        />
      )}
      <IconButton icon="help" label={words.help} testId="open-help" onClick={() => open('help')} />
    </div>
  );
}

/** How many alarms need attention, in the color of the worst of them. */
function Bell() {
  const count = openAlarms.value;
  const worst = worstOpen.value;
  return (
    <span class={count > 0 ? `alarm-bell has-alarms severity-${worst}` : 'alarm-bell'} data-severity={worst}>
      <IconButton
        icon="bell"
        label={alarmSource.value.kind === 'server' && count > 0 ? bySeverity() : words.alarms(count)}
        testId="open-alarms"
        onClick={() => openSingle('alarms')}
      />
      {count > 0 && (
        <span class="alarm-count" aria-hidden="true" data-testid="alarm-count">
          {count > 99 ? '99+' : count}
        </span>
      )}
    </span>
  );
}

/** The number of alarms of each severity, worst first. */
function bySeverity(): string {
  const parts = [...SEVERITIES]
    .reverse()
    .filter((severity) => attention.value[severity] > 0)
    .map((severity) => `${attention.value[severity]} ${strings.alarms.severities[severity].toLowerCase()}`);
  return strings.alarms.bell(parts.join(', '));
}

/** A button for the list of DACs, if there is more to see than the DAC of this page. */
function DacsButton() {
  const dacs = dacList.value?.dacs ?? [];
  if (dacs.every(({ isOwn }) => isOwn) && temLocation.value === undefined) return null;
  const live = dacs.filter(({ isLive }) => isLive).length;
  return (
    <IconButton
      icon="dacs"
      label={dacs.length > 0 ? strings.dacs.open(live, dacs.length) : strings.dacs.openUnknown}
      testId="open-dacs"
      onClick={() => open('dacs')}
    />
  );
}

function open(name: NonNullable<typeof openDialog.value>): void {
  openDialog.value = name;
}
