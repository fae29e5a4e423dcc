import './logs.css';
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Toggle } from '../../components/toggle.tsx';
import { useUniqueId } from '../../components/use_unique_id.ts';
import { useVisible } from '../../components/visible.ts';
import { formatInteger } from '../../format/number.ts';
import { formatInstant } from '../../format/time.ts';
import { LogFeed, type LogRecords, MOST_RECORDS } from '../../logs/feed.ts';
import { LEVELS } from '../../logs/record.ts';
import type { LogFilter, LogRecord } from '../../logs/search.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { readSchemas } from '../../state/schemas.ts';
import { registry } from '../../state/store.ts';
import { ends, range } from '../../state/time.ts';
import { registerPicture } from '../shared/exports.ts';
import { LogRow } from './log_row.tsx';
import { logStrings as words } from './strings.ts';

type Spec = SpecOf<'logs'>;

/** A pause in typing, after which the search begins. */
const PAUSE_MS = 300;
/** Scrolled further than this, the list is no longer at its newest record. */
const LINE_PX = 16;
/** Between two looks for new records. */
const FOLLOW_MS = 1000;

/** What somebody has chosen to search for. */
interface Choice {
  readonly text: string;
  readonly level: string;
  readonly fields: readonly string[];
  readonly time: 'all' | 'shown';
}

/** Records of all time, found by level, text and field. */
export function LogsPanel({ spec }: { spec: Spec }) {
  const choice = useSignal<Choice>({ text: spec.text ?? '', level: '', fields: [], time: 'all' });
  const [isWanted, isAway] = [useSignal(true), useSignal(false)];
  // An end in the past gets no new records.
  const isAtEnd = useComputed(() => choice.value.time === 'all' || range.value.live);
  const isFollowing = useComputed(() => isWanted.value && isAtEnd.value && !isAway.value);
  const list = useRef<HTMLOListElement>(null);
  const isVisible = useVisible();
  const feed = useMemo(() => new LogFeed(), []);
  const open = useSignal<string | undefined>(undefined);
  const change = (changed: Partial<Choice>) => {
    choice.value = { ...choice.peek(), ...changed };
  };
  useSignalEffect(() => void readSchemas(registry.value?.instances ?? []));
  useSignalEffect(() => {
    const filter = filterOf(spec, choice.value);
    if (!isVisible.value) return;
    const timer = setTimeout(() => void feed.search(filter), PAUSE_MS);
    return () => clearTimeout(timer);
  });
  useSignalEffect(() => {
    if (!isFollowing.value || !isVisible.value) return;
    const timer = setInterval(() => void feed.follow(), FOLLOW_MS);
    return () => clearInterval(timer);
  });
  useEffect(() => () => feed.stop(), [feed]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the feed stays
  useEffect(() => registerPicture(spec.id, { table: () => tableOf(feed.found.peek().records) }), [spec.id]);
  const found = feed.found.value;
  const addField = (field: string) => {
    const { fields } = choice.peek();
    if (!fields.includes(field)) change({ fields: [...fields, field] });
  };
  const toNewest = () => {
    list.current?.scrollTo({ top: 0 });
    isAway.value = false;
  };
  return (
    <section class="panel" data-testid="logs" data-panel={spec.id}>
      <Bar
        choice={choice.value}
        onChange={change}
        onField={addField}
        isFollowing={isFollowing.value}
        isAtEnd={isAtEnd.value}
        onFollow={(isOn) => {
          isWanted.value = isOn;
          if (isOn) toNewest();
        }}
      />
      <Status feed={feed} found={found} />
      {isWanted.value && isAtEnd.value && isAway.value && (
        <p class="log-away">
          <span>{words.away}</span>
          <button type="button" class="button button-main" data-testid="logs-newest" onClick={toNewest}>
            {words.toNewest}
          </button>
        </p>
      )}
      <ol
        ref={list}
        class="log-list"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        data-testid="log-list"
        onScroll={(event) => {
          // A text that is being read must not move, and less than a line is no reading.
          isAway.value = event.currentTarget.scrollTop > LINE_PX;
        }}
      >
        {found.records.map((record) => (
          <LogRow
            key={record.key}
            record={record}
            isOpen={open.value === record.key}
            onOpen={(isOpen) => {
              open.value = isOpen ? record.key : undefined;
            }}
            onField={addField}
          />
        ))}
        {found.next !== undefined && found.records.length > 0 && (
          <li class="alarms-more">
            <button type="button" class="button" data-testid="logs-older" onClick={() => void feed.more()}>
              {words.older}
            </button>
          </li>
        )}
      </ol>
    </section>
  );
}

function filterOf(spec: Spec, { text, level, fields, time }: Choice): LogFilter {
  const filter = { text, level, fields, targets: spec.targets };
  if (time === 'all') return filter;
  const [from, until] = ends(range.value);
  // Live, the end is now.
  return { ...filter, from: nanos(from), ...(!range.value.live && { until: nanos(until) }) };
}

function nanos(ms: number): bigint {
  return BigInt(Math.round(Math.max(0, ms))) * 1_000_000n;
}

function Bar(props: {
  choice: Choice;
  onChange: (change: Partial<Choice>) => void;
  onField: (field: string) => void;
  isFollowing: boolean;
  isAtEnd: boolean;
  onFollow: (isOn: boolean) => void;
}) {
  const { choice, onChange } = props;
  return (
    <>
      <div class="panel-bar log-bar">
        <input
          class="input log-text"
          type="search"
          placeholder={words.text}
          aria-label={words.text}
          data-testid="logs-text"
          value={choice.text}
          onInput={(event) => onChange({ text: event.currentTarget.value })}
        />
        <select
          class="input"
          aria-label={words.level}
          data-testid="logs-level"
          value={choice.level}
          onChange={(event) => onChange({ level: event.currentTarget.value })}
        >
          <option value="">{words.anyLevel}</option>
          {LEVELS.map((level) => (
            <option key={level} value={level}>
              {level}
            </option>
          ))}
        </select>
        <FieldForm onField={props.onField} />
        <select
          class="input"
          aria-label={words.from}
          data-testid="logs-time"
          value={choice.time}
          onChange={(event) => onChange({ time: event.currentTarget.value === 'shown' ? 'shown' : 'all' })}
        >
          <option value="all">{words.anyTime}</option>
          <option value="shown">{words.shownTime}</option>
        </select>
        {props.isAtEnd && (
          <span class="log-follow" title={words.followTip}>
            <Toggle
              label={words.follow}
              isOn={props.isFollowing}
              testId="logs-follow"
              onChange={props.onFollow}
            />
          </span>
        )}
      </div>
      {choice.fields.length > 0 && (
        <div class="panel-bar log-bar">
          {choice.fields.map((field) => (
            <button
              key={field}
              type="button"
              class="button"
              title={words.removeField(field)}
              aria-label={words.removeField(field)}
              data-testid="logs-field-chosen"
              onClick={() => onChange({ fields: choice.fields.filter((other) => other !== field) })}
            >
              {field} {'\u00d7'}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

function FieldForm({ onField }: { onField: (field: string) => void }) {
  const text = useSignal('');
  const hint = useUniqueId();
  const isBad = useSignal(false);
  return (
    <form
      class="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        const field = text.peek().trim();
        isBad.value = !/^[^=]+=.+$/.test(field);
        if (isBad.value) return;
        onField(field);
        text.value = '';
      }}
    >
      <input
        class="input"
        placeholder={words.fieldExample}
        aria-label={words.addField}
        aria-invalid={isBad.value}
        aria-describedby={hint}
        size={14}
        data-testid="logs-field"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          isBad.value = false;
        }}
      />
      <span id={hint} class="form-problem" role="alert">
        {isBad.value ? words.badField : ''}
      </span>
    </form>
  );
}

function Status({ feed, found }: { feed: LogFeed; found: LogRecords }) {
  const isSearching = useComputed(() => feed.isBusy.value && feed.found.value.records.length === 0).value;
  const { records, reached, next, searched } = found;
  const isOver = !feed.isBusy.value;
  return (
    <div class="log-status" role="status" data-testid="logs-status">
      {feed.problem.value !== '' && <span class="form-problem">{feed.problem.value}</span>}
      {isSearching && (
        <>
          <span>{reached === undefined ? words.searching : words.searchingAt(formatInstant(reached))}</span>
          <button type="button" class="button" data-testid="logs-stop" onClick={() => feed.stop()}>
            {words.stop}
          </button>
        </>
      )}
      {!isSearching && records.length > 0 && (
        <span>{words.found(formatInteger(records.length), next === undefined, formatInteger(searched))}</span>
      )}
      {isOver && records.length === 0 && feed.problem.value === '' && (
        <span>
          {next === undefined || reached === undefined ? words.none : words.stopped(formatInstant(reached))}
        </span>
      )}
      {found.unreadable > 0 && (
        <span class="form-problem">{words.unreadable(formatInteger(found.unreadable))}</span>
      )}
      {found.notSearched > 0 && <span>{words.notSearched(formatInteger(found.notSearched))}</span>}
      {records.length >= MOST_RECORDS && <span>{words.most(formatInteger(MOST_RECORDS))}</span>}
    </div>
  );
}

function tableOf(records: readonly LogRecord[]): string[][] {
  return [
    ['time', 'node', 'instance', 'sequence', 'values'],
    ...records.map(({ time, node, instance, sequence, values }) => [
      new Date(time).toISOString(),
      node,
      instance,
      sequence,
      JSON.stringify(values),
    ]),
  ];
}
