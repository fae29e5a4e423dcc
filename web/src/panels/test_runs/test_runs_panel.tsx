import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { NowNote } from '../../components/moment_note.tsx';
import { Switch } from '../../components/switch.tsx';
import { useAttempt } from '../../components/use_attempt.ts';
import { useVisible } from '../../components/visible.ts';
import { formatDay, formatSpan } from '../../format/time.ts';
import { type Comparison, compareTestRuns, swapped } from '../../state/comparison.ts';
import { now } from '../../state/now.ts';
import {
  changeTestRun,
  deleteTestRun,
  followTestRuns,
  showTestRun,
  startTestRun,
  stopTestRun,
  type TestRun,
  testRuns,
  testRunsProblem,
} from '../../state/test_runs.ts';
import { range } from '../../state/time.ts';
import { testRunStrings } from '../../strings/test_runs.ts';
import { ComparisonTable } from './comparison_table.tsx';
import { TestRunForm } from './test_run_form.tsx';
import { TestRunNotes } from './test_run_notes.tsx';
import { TestRunPages } from './test_run_pages.tsx';

const words = testRunStrings.testRuns;

/** Test runs: start, stop, show and compare them. */
export function TestRunsPanel() {
  const isVisible = useVisible();
  const { problem, attempt } = useAttempt();
  const picked = useSignal<readonly TestRun[]>([]);
  const list = useRef<HTMLDivElement>(null);
  const comparison = useSignal<Comparison | undefined>(undefined);
  const seen = isVisible.value;
  useEffect(() => (seen ? followTestRuns() : undefined), [seen]);
  const page = testRuns.value;
  const runs = page?.runs ?? [];
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page begins at its top
  useEffect(() => list.current?.scrollTo(0, 0), [page?.number]);
  const [one, other] = picked.value;
  const isPicked = ({ id }: TestRun) => picked.value.some((run) => run.id === id);
  const unpick = ({ id }: TestRun) => picked.value.filter((run) => run.id !== id);
  const toggle = (run: TestRun) => {
    picked.value = isPicked(run) ? unpick(run) : [...picked.value, run].slice(-2);
  };
  return (
    <section class="panel" data-testid="test-runs">
      {!range.value.live && <NowNote />}
      <TestRunForm
        onStart={(name, tags, notes, started) =>
          attempt(async () => {
            await startTestRun(name, tags, notes);
            started();
          })
        }
      />
      <p class="form-problem test-run-problem" role="status" data-testid="test-run-problem">
        {problem.value || testRunsProblem.value}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <div class="table-scroll" tabIndex={0} ref={list}>
        <ul>
          {page?.runs.length === 0 && (
            <li class="hint">{page.number === 1 ? words.empty : words.noneHere}</li>
          )}
          {runs.map((run) => (
            <Row
              key={run.id}
              run={run}
              isPicked={isPicked(run)}
              onPick={() => toggle(run)}
              onDelete={() => {
                picked.value = unpick(run);
                attempt(() => deleteTestRun(run));
              }}
              attempt={attempt}
            />
          ))}
        </ul>
        {page && <TestRunPages {...page} />}
        {comparison.value && (
          <ComparisonTable
            comparison={comparison.value}
            onSwap={() => {
              comparison.value = comparison.value && swapped(comparison.value);
            }}
          />
        )}
      </div>
      <div class="panel-bar test-run-compare">
        <button
          type="button"
          class="button"
          disabled={!one || !other}
          title={words.compareTip}
          data-testid="test-run-compare"
          onClick={() =>
            one &&
            other &&
            attempt(async () => {
              // The earlier run is the reference.
              const [first, second] = one.started <= other.started ? [one, other] : [other, one];
              comparison.value = await compareTestRuns(first, second);
            })
          }
        >
          {words.compare}
        </button>
        {picked.value.some(({ id }) => !runs.some((run) => run.id === id)) && (
          <span class="test-run-picked" data-testid="test-runs-picked">
            <bdi>{words.picked(picked.value.map(({ name }) => name).join(', '))}</bdi>
          </span>
        )}
        {comparison.value && (
          <button
            type="button"
            class="button button-quiet"
            onClick={() => {
              comparison.value = undefined;
            }}
          >
            {words.closeComparison}
          </button>
        )}
      </div>
    </section>
  );
}

function Row(props: {
  run: TestRun;
  isPicked: boolean;
  onPick: () => void;
  onDelete: () => void;
  attempt: (act: () => Promise<unknown>) => void;
}) {
  const { run, isPicked, onPick, onDelete, attempt } = props;
  const isGoing = run.stopped === undefined;
  const end = run.stopped ?? now.value;
  const length = formatSpan(Math.max(1000, Math.round((end - run.started) / 1000) * 1000));
  return (
    <li class="test-run" data-testid="test-run" data-name={run.name} data-going={isGoing}>
      <input
        type="checkbox"
        aria-label={words.pick(run.name)}
        title={words.compareTip}
        data-testid="test-run-pick"
        checked={isPicked}
        onChange={onPick}
      />
      <button
        type="button"
        class="test-run-name"
        title={words.showTip}
        data-testid="test-run-show"
        onClick={() => showTestRun(run)}
      >
        <bdi>{run.name}</bdi>
      </button>
      <span class="test-run-time">
        {formatDay(run.started)} {'\u00b7'} {isGoing ? words.going(length) : length}
      </span>
      {run.tags.map((tag) => (
        <span key={tag} class="test-run-tag">
          <bdi>{tag}</bdi>
        </span>
      ))}
      <TestRunNotes run={run} attempt={attempt} />
      <span class="test-run-buttons">
        {isGoing && (
          <button
            type="button"
            class="button"
            data-testid="test-run-stop"
            onClick={() => attempt(() => stopTestRun(run))}
          >
            {words.stop}
          </button>
        )}
        <Switch
          label={words.pin}
          tip={words.pinTip}
          testId="test-run-pin"
          isOn={run.pinned}
          onChange={() => attempt(() => changeTestRun(run, { pinned: !run.pinned }))}
        />
        <button
          type="button"
          class="button button-quiet"
          title={words.deleteTip(run.name)}
          data-testid="test-run-delete"
          onClick={onDelete}
        >
          {words.delete}
        </button>
      </span>
    </li>
  );
}
