import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { formatInteger } from '../../format/number.ts';
import { formatInstant, formatSpan } from '../../format/time.ts';
import { hasParameters } from '../../sql/parameters.ts';
import { changePanel } from '../../state/panels.ts';
import { mayQuery } from '../../state/session.ts';
import { runQuery, type SqlAnswer } from '../../state/sql.ts';
import { isConnected } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import { sqlStrings } from './strings.ts';
import './sql.css';
import { csv, fileName, saveFile } from '../../charts/save_file.ts';
import { Choice } from '../../components/toggle.tsx';
import { useVisible } from '../../components/visible.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { titleOf } from '../../state/panel_titles.ts';
import { registerPicture } from '../shared/exports.ts';
import { SQL_PERIODS } from './limits.ts';
import { SqlEditor } from './sql_editor.tsx';
import { SqlView } from './sql_view.tsx';

type Spec = SpecOf<'sql'>;

const words = sqlStrings;
/** Pause after the last change of the time shown. */
const SETTLED_MS = 400;

/** Answers by panel: a change of a panel makes it anew. */
const kept = new Map<string, { readonly query: string; readonly answer: SqlAnswer }>();
/** Whether the field for the query is shown, by panel. */
const opened = new Map<string, boolean>();
/** Panels whose changed query is to be run. */
const due = new Set<string>();

/** The answer of a query over the archive. */
export function SqlPanel({ spec }: { spec: Spec }) {
  const isEdited = useSignal(opened.get(spec.id) ?? spec.query === '');
  const { answer, problem, isRunning, run, stop } = useQuery(spec);
  useEffect(() => {
    return registerPicture(spec.id, { table: () => tableOf(answer.peek()) });
  }, [spec.id, answer]);
  if (mayQuery.value === false)
    return (
      <section class="panel" data-testid="sql" data-panel={spec.id}>
        <p class="panel-empty">{words.mayNot}</p>
      </section>
    );
  const isEmpty = spec.query.trim() === '';
  const runText = (text: string) => {
    if (text.trim() === '') return;
    if (text === spec.query) run();
    else {
      due.add(spec.id);
      opened.set(spec.id, true);
      changePanel(spec.id, { ...spec, query: text });
    }
  };
  return (
    <section class="panel" data-testid="sql" data-panel={spec.id}>
      {isEdited.value && <SqlEditor query={spec.query} onRun={runText} />}
      {problem.value !== '' && (
        <p class="sql-problem" role="alert" data-testid="sql-problem">
          {problem.value}
        </p>
      )}
      <SqlView answer={answer.value} isDrawn={spec.isDrawn === true} id={spec.id} />
      <div class="panel-options">
        {isRunning.value ? (
          <button type="button" class="button" data-testid="sql-stop" onClick={stop}>
            {words.stop}
          </button>
        ) : (
          !isEdited.value && (
            <button
              type="button"
              class="button"
              title={isEmpty ? words.typeFirst : words.runTip}
              disabled={isEmpty}
              data-testid="sql-again"
              onClick={() => run()}
            >
              {words.run}
            </button>
          )
        )}
        <button
          type="button"
          class="button button-quiet"
          data-testid="sql-edit"
          aria-expanded={isEdited.value}
          onClick={() => {
            isEdited.value = !isEdited.value;
            opened.set(spec.id, isEdited.value);
          }}
        >
          {isEdited.value ? words.hide : words.edit}
        </button>
        <Options spec={spec} answer={answer} />
      </div>
      <Footer answer={answer.value} isRunning={isRunning.value} isEmpty={isEmpty} />
    </section>
  );
}

function Options({ spec, answer }: { spec: Spec; answer: ReadonlySignal<SqlAnswer | undefined> }) {
  return (
    <>
      <Choice
        label={words.view}
        value={spec.isDrawn ? 'chart' : 'table'}
        values={['table', 'chart']}
        nameOf={(view) => words.views[view]}
        testId="sql-view"
        onChange={(view) => {
          const { isDrawn: _, ...rest } = spec;
          changePanel(spec.id, view === 'chart' ? { ...rest, isDrawn: true } : rest);
        }}
      />
      <Choice
        label={words.every}
        value={spec.every ?? 0}
        values={SQL_PERIODS}
        nameOf={(seconds) => (seconds === 0 ? words.byHand : words.period(formatSpan(seconds * 1000)))}
        testId="sql-every"
        onChange={(seconds) => {
          const { every: _, ...rest } = spec;
          changePanel(spec.id, seconds === 0 ? rest : { ...rest, every: seconds });
        }}
      />
      {answer.value && (
        <button
          type="button"
          class="button button-quiet"
          title={words.csvTip}
          data-testid="sql-csv"
          onClick={() => saveFile(fileName(titleOf(spec), 'csv'), csv(tableOf(answer.peek())))}
        >
          {words.csv}
        </button>
      )}
    </>
  );
}

function Footer(props: { answer: SqlAnswer | undefined; isRunning: boolean; isEmpty: boolean }) {
  const { answer, isRunning, isEmpty } = props;
  const count = answer?.result.rows.length ?? 0;
  return (
    <div class="panel-footer" role="status" data-testid="sql-footer">
      {isRunning && <span>{words.running}</span>}
      {answer ? (
        <>
          <span>{words.rows(formatInteger(count), count === 1)}</span>
          {answer.result.more && <span class="is-warn">{words.cut}</span>}
          <span>{words.at(formatInstant(answer.at))}</span>
        </>
      ) : (
        !isRunning && <span>{isEmpty ? words.typeFirst : words.notYet}</span>
      )}
    </div>
  );
}

/** Runs the query of a panel: by hand, on a period, and when the time shown is another one. */
function useQuery(spec: Spec): {
  readonly answer: ReadonlySignal<SqlAnswer | undefined>;
  readonly problem: ReadonlySignal<string>;
  readonly isRunning: ReadonlySignal<boolean>;
  readonly run: () => void;
  readonly stop: () => void;
} {
  const before = kept.get(spec.id);
  const answer = useSignal(before?.query === spec.query ? before.answer : undefined);
  const problem = useSignal('');
  const isRunning = useSignal(false);
  const end = useRef<AbortController>();
  const stop = () => end.current?.abort();
  const run = () => {
    stop();
    const own = new AbortController();
    end.current = own;
    isRunning.value = true;
    void attempt(spec, own.signal, answer, problem).finally(() => {
      // A later run may continue.
      if (end.current === own) isRunning.value = false;
    });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for each query
  useEffect(() => {
    if (due.delete(spec.id)) run();
    return stop;
  }, []);
  usePeriod(spec, answer, isRunning, run);
  return { answer, problem, isRunning, run, stop };
}

async function attempt(
  spec: Spec,
  signal: AbortSignal,
  answer: Signal<SqlAnswer | undefined>,
  problem: Signal<string>,
): Promise<void> {
  try {
    const found = await runQuery(spec.query, signal);
    if (signal.aborted) return;
    kept.set(spec.id, { query: spec.query, answer: found });
    answer.value = found;
    problem.value = '';
  } catch (error) {
    if (!signal.aborted) problem.value = error instanceof Error ? error.message : words.failed;
  }
}

function usePeriod(
  spec: Spec,
  answer: ReadonlySignal<SqlAnswer | undefined>,
  isRunning: ReadonlySignal<boolean>,
  run: () => void,
): void {
  const isVisible = useVisible();
  const latest = useRef(run);
  latest.current = run;
  // A panel in the background is not visible, and without a connection there is no answer.
  useSignalEffect(() => {
    if (
      !spec.every ||
      spec.query.trim() === '' ||
      !isVisible.value ||
      !isConnected.value ||
      mayQuery.value !== true
    )
      return;
    const again = () => {
      if (!isRunning.peek()) latest.current();
    };
    again();
    const timer = setInterval(again, spec.every * 1000);
    return () => clearInterval(timer);
  });
  useSignalEffect(() => {
    const shown = range.value;
    const last = answer.peek();
    // A live range moves always: then the period decides.
    if (shown.live || !last || !isVisible.value || !hasParameters(spec.query)) return;
    if (shown.from === last.from && shown.to === last.to) return;
    const timer = setTimeout(() => latest.current(), SETTLED_MS);
    return () => clearTimeout(timer);
  });
}

function tableOf(answer: SqlAnswer | undefined): string[][] {
  if (!answer) return [];
  const { columns, rows } = answer.result;
  return [[...columns], ...rows.map((row) => row.map((cell) => (cell === null ? '' : String(cell))))];
}
