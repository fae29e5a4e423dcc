import { useSignal } from '@preact/signals';
import { SEVERITIES } from '../alarms/alarm.ts';
import { alarmSource, attention } from '../alarms/book.ts';
import { exportCsv, exportPicture } from '../commands/export.ts';
import { Icon, IconButton } from '../components/icon.tsx';
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

/** The buttons of the page; on a narrow screen behind a menu. */
export function Toolbar() {
  const isOpen = useSignal(false);
  return (
    <>
      <span class={bellClass('toolbar-toggle')}>
        <button
          type="button"
          class="button"
          aria-expanded={isOpen.value}
          aria-controls="toolbar"
          data-testid="open-menu"
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          <Icon name="menu" />
          {words.menu}
        </button>
        <AlarmCount />
      </span>
      <Buttons
        isOpen={isOpen.value}
        onDone={() => {
          isOpen.value = false;
        }}
      />
    </>
  );
}

function Buttons({ isOpen, onDone }: { isOpen: boolean; onDone: () => void }) {
  const short = words.words;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a key on one of its buttons is a click, too
    <div
      class={isOpen ? 'toolbar is-open' : 'toolbar'}
      id="toolbar"
      role="toolbar"
      aria-label={words.title}
      onClick={onDone}
    >
      <IconButton
        icon="search"
        label={strings.palette.open}
        word={short.search}
        testId="open-palette"
        onClick={() => open('palette')}
      />
      <DacsButton />
      <IconButton
        icon="add"
        label={words.add}
        word={short.add}
        testId="open-add"
        onClick={() => open('add')}
      />
      <Bell />
      <IconButton
        icon="ledger"
        label={words.ledger}
        word={short.ledger}
        testId="open-ledger"
        onClick={() => openSingle('ledger')}
      />
      <IconButton
        icon="flag"
        label={words.testRuns}
        word={short.testRuns}
        testId="open-test-runs"
        onClick={() => openSingle('test-runs')}
      />
      <IconButton
        icon="control"
        label={words.control}
        word={short.control}
        testId="open-control"
        onClick={() => open('control')}
      />
      <IconButton
        icon="note"
        label={words.note}
        word={short.note}
        testId="open-note"
        onClick={() => open('note')}
      />
      <IconButton
        icon="image"
        label={words.picture}
        word={short.picture}
        testId="export-picture"
        onClick={() => void exportPicture()}
      />
      <IconButton icon="table" label={words.csv} word={short.csv} testId="export-csv" onClick={exportCsv} />
      <IconButton
        icon="download"
        label={words.samples}
        word={short.samples}
        testId="open-sample-export"
        onClick={() => open('sample-export')}
      />
      <IconButton
        icon="layout"
        label={words.layout}
        word={short.layout}
        testId="open-layout"
        onClick={() => open('layout')}
      />
      {mayAdminister.value && (
        <IconButton
          icon="people"
          label={strings.accounts.open}
          word={short.accounts}
          testId="open-accounts"
          onClick={() => open('accounts')}
        />
      )}
      <IconButton
        icon={theme.value === 'dark' ? 'light' : 'dark'}
        label={words.theme[theme.value]}
        word={short.theme[theme.value]}
        testId="toggle-theme"
        onClick={toggleTheme}
      />
      {mayReadAuditLog.value && (
        <IconButton
          icon="audit"
          label={strings.auditLog.open}
          word={short.audit}
          testId="open-audit-log"
          onClick={() => open('audit-log')}
        />
      )}
      <IconButton
        icon="help"
        label={words.help}
        word={short.help}
        testId="open-help"
        onClick={() => open('help')}
      />
    </div>
  );
}

/** How many alarms need attention, in the color of the worst of them. */
function Bell() {
  const count = openAlarms.value;
  return (
    <span class={bellClass('')} data-severity={worstOpen.value}>
      <IconButton
        icon="bell"
        label={alarmSource.value.kind === 'server' && count > 0 ? bySeverity() : words.alarms(count)}
        word={words.words.alarms}
        testId="open-alarms"
        onClick={() => openSingle('alarms')}
      />
      <AlarmCount testId="alarm-count" />
    </span>
  );
}

function AlarmCount({ testId }: { testId?: string }) {
  const count = openAlarms.value;
  if (count === 0) return null;
  return (
    <span class="alarm-count" aria-hidden="true" data-testid={testId}>
      {count > 99 ? '99+' : count}
    </span>
  );
}

function bellClass(more: string): string {
  const state = openAlarms.value > 0 ? `has-alarms severity-${worstOpen.value}` : '';
  return `alarm-bell ${more} ${state}`;
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
      word={words.words.dacs}
      testId="open-dacs"
      onClick={() => open('dacs')}
    />
  );
}

function open(name: NonNullable<typeof openDialog.value>): void {
  openDialog.value = name;
}
