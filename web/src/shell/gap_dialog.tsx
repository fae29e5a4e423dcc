import '../styles/alarms.css';
import { useSignal } from '@preact/signals';
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import { readJournal } from '../alarms/journal.ts';
import { Dialog } from '../components/dialog.tsx';
import { wordsOf } from '../components/gap_words.ts';
import { formatInstant, formatSpan } from '../format/time.ts';
import { shownRecord } from '../logs/record.ts';
import { searchRecords } from '../logs/search.ts';
import { byBrowser, byNode } from '../state/alarm_clock.ts';
import { openDialog } from '../state/dialogs.ts';
import { type ExplainedGap, explainedGap } from '../state/explained_gap.ts';
import { logsOf } from '../state/markers.ts';
import { show } from '../state/time.ts';
import { historyStrings } from '../strings/alarm_history.ts';
import { visible } from '../text/visible.ts';
import { gapStrings as words } from './gap_strings.ts';

/** Read before and after the gap. */
const AROUND_MS = 30_000;
/** Records and entries of a node. */
const MAX_LINES = 30;
const MAX_NODES = 4;

/** The causes of a gap, and what the log and the alarms of its nodes say about that time. */
export function GapDialog() {
  const found = explainedGap.value;
  if (!found || found.gaps.length === 0) return null;
  return (
    <Dialog title={words.title} testId="gap-dialog">
      <Body {...found} />
    </Dialog>
  );
}

function Body({ gaps, targets }: ExplainedGap) {
  const { from, to } = gaps[0];
  const nodes = [...new Set(targets.map(({ node }) => node))];
  return (
    <div class="why">
      <p class="why-where" data-testid="gap-span">
        {words.span(formatInstant(from), formatInstant(to), formatSpan(Math.max(1, to - from)))}
      </p>
      <ul class="why-gaps" data-testid="gap-causes">
        {gaps.map((gap) => (
          <li key={`${gap.cause} ${gap.count}`}>{wordsOf(gap)}</li>
        ))}
      </ul>
      <button
        type="button"
        class="button button-main"
        data-testid="gap-show"
        onClick={() => {
          openDialog.value = undefined;
          // With as much beside it: what came before and after is seen.
          const margin = Math.max(1000, (to - from) / 2);
          show(from - margin, to + margin);
        }}
      >
        {words.show}
      </button>
      {nodes.slice(0, MAX_NODES).map((node) => (
        <Fragment key={node}>
          <h3>
            <bdi>{words.log(visible(node))}</bdi>
          </h3>
          <Lines read={(signal) => readLog(node, from, to, signal)} none={words.noRecords} testId="gap-log" />
          <h3>
            <bdi>{words.alarms(visible(node))}</bdi>
          </h3>
          <Lines
            read={(signal) => readAlarms(node, from, to, signal)}
            none={words.noAlarms}
            testId="gap-alarms"
          />
        </Fragment>
      ))}
      {nodes.length > MAX_NODES && <p class="hint">{words.moreNodes(nodes.length - MAX_NODES)}</p>}
    </div>
  );
}

/** What happened at a time, in the order of time. */
interface Line {
  readonly key: string;
  readonly time: number;
  readonly kind: string;
  readonly text: string;
}

/** Lines, or why there are none. */
interface ReadLines {
  readonly lines: readonly Line[];
  readonly note?: string;
}

async function readLog(node: string, from: number, to: number, signal: AbortSignal): Promise<ReadLines> {
  const targets = logsOf(new Set([node]));
  // Without any, the search would be one of all instances.
  if (targets.length === 0) return { lines: [], note: words.noLog };
  const [first, last] = [byNode(node, from - AROUND_MS), byNode(node, to + AROUND_MS)].map(nanos);
  const filter = { text: '', level: '', fields: [], targets, from: first, until: last };
  const page = await searchRecords({ ...filter, order: 'oldest' }, MAX_LINES, undefined, signal);
  const { records, reached, next } = page;
  const lines = records.map((record) => {
    const { level, message } = shownRecord(record, []);
    return { key: record.key, time: byBrowser(node, record.time), kind: level, text: message };
  });
  if (next === undefined) return { lines };
  if (records.length >= MAX_LINES) return { lines, note: words.more(MAX_LINES) };
  // A page also ends when it has read enough.
  return { lines, note: words.stopped(reached === undefined ? '' : formatInstant(byBrowser(node, reached))) };
}

async function readAlarms(node: string, from: number, to: number, signal: AbortSignal): Promise<ReadLines> {
  const filter = { node, from: byNode(node, from - AROUND_MS), to: byNode(node, to + AROUND_MS) };
  const { entries, next } = await readJournal(filter, MAX_LINES, undefined, signal);
  const lines = entries.toReversed().map(({ id, time, kind, rule, instance, severity = '' }) => ({
    key: id,
    time: byBrowser(node, time),
    kind: severity,
    text: words.entry(historyStrings.history.entryKinds[kind] ?? kind, rule, instance),
  }));
  return { lines, ...(next !== undefined && { note: words.newest(MAX_LINES) }) };
}

function nanos(ms: number): bigint {
  return BigInt(Math.max(0, Math.round(ms))) * 1_000_000n;
}

function Lines(props: {
  read: (signal: AbortSignal) => Promise<ReadLines>;
  none: string;
  testId: string;
}): ComponentChildren {
  const found = useSignal<ReadLines | undefined>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a dialog explains one gap
  useEffect(() => {
    const end = new AbortController();
    props.read(end.signal).then(
      (read) => {
        found.value = read;
      },
      (error: unknown) => {
        if (!end.signal.aborted)
          found.value = { lines: [], note: error instanceof Error ? error.message : String(error) };
      },
    );
    return () => end.abort();
  }, []);
  if (!found.value) return <p class="hint">{words.reading}</p>;
  const { lines, note = lines.length === 0 ? props.none : undefined } = found.value;
  return (
    <>
      {lines.length > 0 && (
        <ul class="why-trace" data-testid={props.testId}>
          {lines.map(({ key, time, kind, text }) => (
            <li key={key}>
              <time>{formatInstant(time)}</time> <strong>{kind}</strong> <bdi>{visible(text)}</bdi>
            </li>
          ))}
        </ul>
      )}
      {note !== undefined && (
        <p class="hint" data-testid={`${props.testId}-note`}>
          {note}
        </p>
      )}
    </>
  );
}
