import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { useAttempt } from '../components/use_attempt.ts';
import {
  type AuditCheck,
  type AuditFilter,
  type AuditPage,
  type AuditRecord,
  checkAuditLog,
  readAuditLog,
} from '../state/audit_log.ts';
import { strings } from '../strings/strings.ts';

const words = strings.auditLog;

const NOTHING: AuditFilter = { principal: '', action: '', result: '', from: '' };

/** Records of the audit log with filters, and whether its chain is whole. */
export function AuditDialog() {
  const filter = useSignal<AuditFilter>(NOTHING);
  const page = useSignal<AuditPage>({ records: [], next: undefined });
  const isRead = useSignal(false);
  const check = useSignal<AuditCheck | undefined>(undefined);
  const { problem, attempt } = useAttempt();
  const show = () =>
    attempt(async () => {
      page.value = await readAuditLog(filter.value);
      isRead.value = true;
    });
  const showOlder = () =>
    attempt(async () => {
      const { records, next } = await readAuditLog(filter.value, page.value.next);
      page.value = { records: [...page.value.records, ...records], next };
    });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the dialog opens
  useEffect(() => {
    show();
    attempt(async () => {
      check.value = await checkAuditLog();
    });
  }, []);
  return (
    <Dialog title={words.title} testId="audit-log">
      <Verification check={check.value} isWaiting={check.value === undefined && problem.value === ''} />
      <Filters filter={filter} onShow={show} />
      <p class="form-problem" role="alert" data-testid="audit-problem">
        {problem.value}
      </p>
      <ol class="audit-records" data-testid="audit-records">
        {page.value.records.map((record) => (
          <Line key={record.seq} record={record} />
        ))}
      </ol>
      {isRead.value && page.value.records.length === 0 && <p class="hint">{words.none}</p>}
      {page.value.next !== undefined && (
        <button type="button" class="button" data-testid="audit-more" onClick={showOlder}>
          {words.more}
        </button>
      )}
    </Dialog>
  );
}

function Verification({ check, isWaiting }: { check: AuditCheck | undefined; isWaiting: boolean }) {
  if (check === undefined) return <p class="hint">{isWaiting ? words.checking : ''}</p>;
  const { isIntact, records, head, finding } = check;
  return (
    <p class={isIntact ? 'audit-check' : 'audit-check is-bad'} title={words.head} data-testid="audit-check">
      {isIntact ? words.intact(records, head) : words.damaged(finding)}
    </p>
  );
}

function Filters({ filter, onShow }: { filter: Signal<AuditFilter>; onShow: () => void }) {
  return (
    <form
      class="audit-filters"
      onSubmit={(event) => {
        event.preventDefault();
        onShow();
      }}
    >
      {(['principal', 'action', 'result', 'from'] as const).map((name) => (
        <label key={name}>
          {words[name]}
          <input
            class="input"
            type="text"
            placeholder={name === 'from' ? words.fromHint : undefined}
            data-testid={`audit-${name}`}
            value={filter.value[name]}
            onInput={(event) => {
              filter.value = { ...filter.value, [name]: event.currentTarget.value };
            }}
          />
        </label>
      ))}
      <button type="submit" class="button button-main" data-testid="audit-show">
        {words.show}
      </button>
    </form>
  );
}

function Line({ record }: { record: AuditRecord }) {
  const { seq, time, principal, action, target, details, result } = record;
  return (
    <li class="audit-record" data-testid="audit-record">
      <span class="audit-when">
        {seq} {time.replace('T', ' ').replace(/\.\d+Z$/, 'Z')}
      </span>
      <strong>{principal}</strong>
      <span>
        {action} {target}
      </span>
      <span class="audit-result">{result}</span>
      {details !== '' && <code class="audit-details">{details}</code>}
    </li>
  );
}
