import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { IconButton } from '../../components/icon.tsx';
import { formatCursor } from '../../format/time.ts';
import { readAround } from '../../logs/context.ts';
import { type ShownRecord, shownRecord } from '../../logs/record.ts';
import type { LogRecord } from '../../logs/search.ts';
import { nameOf } from '../../state/names.ts';
import { schemaOfTarget } from '../../state/target_schema.ts';
import { goTo } from '../../state/time.ts';
import { logStrings as words } from './strings.ts';

/** A record with its level, source, message and fields; opened, the records around it. */
export function LogRow(props: {
  record: LogRecord;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  onField: (field: string) => void;
}) {
  const { record, isOpen } = props;
  const shown = shownOf(record);
  return (
    <li class={`log-record is-${shown.severity}${isOpen ? ' is-chosen' : ''}`} data-testid="log-record">
      <Cells record={record} shown={shown} onField={props.onField} />
      <span class="log-actions">
        <IconButton
          icon="more"
          label={isOpen ? words.hideContext : words.context}
          testId="log-context"
          isPressed={isOpen}
          onClick={() => props.onOpen(!isOpen)}
        />
        <IconButton icon="clock" label={words.show} testId="log-show" onClick={() => goTo(record.time)} />
      </span>
      {isOpen && <Around record={record} />}
    </li>
  );
}

function Cells(props: { record: LogRecord; shown: ShownRecord; onField?: (field: string) => void }) {
  const { record, shown, onField } = props;
  return (
    <>
      <time dateTime={new Date(record.time).toISOString()}>{formatCursor(record.time, 0)}</time>
      <span class="log-level">{shown.level}</span>
      <span class="log-what">
        {shown.message !== '' && <span class="log-message">{shown.message}</span>}
        <span class="log-source" title={`${record.node}/${record.instance}`}>
          {nameOf(record)}
        </span>
        {shown.details.map(({ name, value }) =>
          onField ? (
            <button
              key={name}
              type="button"
              class="log-detail"
              title={words.withField(`${name}=${value}`)}
              onClick={() => onField(`${name}=${value}`)}
            >
              {name}={value}
            </button>
          ) : (
            <span key={name} class="log-detail">
              {name}={value}
            </span>
          ),
        )}
      </span>
    </>
  );
}

function Around({ record }: { record: LogRecord }) {
  const found = useSignal<readonly LogRecord[]>([]);
  const problem = useSignal('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: a record does not change
  useEffect(() => {
    const end = new AbortController();
    readAround(record, end.signal).then(
      (records) => {
        found.value = records;
      },
      (error: unknown) => {
        if (!end.signal.aborted) problem.value = error instanceof Error ? error.message : String(error);
      },
    );
    return () => end.abort();
  }, [record.key]);
  if (problem.value !== '') return <p class="form-problem log-around">{problem.value}</p>;
  return (
    <ol class="log-around" aria-label={words.contextOf(nameOf(record))} data-testid="log-around">
      {found.value.map((each) => {
        const shown = shownOf(each);
        const isThis = each.key === record.key;
        return (
          <li
            key={each.key}
            class={`log-record is-${shown.severity}${isThis ? ' is-chosen' : ''}`}
            aria-current={isThis}
          >
            <Cells record={each} shown={shown} />
          </li>
        );
      })}
    </ol>
  );
}

function shownOf(record: LogRecord): ShownRecord {
  return shownRecord(record, schemaOfTarget(record)?.metrics ?? []);
}
