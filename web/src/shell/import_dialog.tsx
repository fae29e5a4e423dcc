import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { formatInteger } from '../format/number.ts';
import { watch } from '../state/actions.ts';
import { openDialog } from '../state/dialogs.ts';
import { takeDroppedFiles } from '../state/dropped_files.ts';
import { show } from '../state/time.ts';
import { choicesOf, type Entered, ImportOptions, withLabels } from './import_options.tsx';
import { cancel, type RecordingImport, run, upload } from './import_request.ts';
import { importStrings as words } from './import_strings.ts';
import '../styles/import.css';

/** Series, and metrics of one, that are listed. */
const MAX_LISTED = 50;
/** Instances that are shown after an import. */
const MAX_SHOWN = 6;
const NS_IN_MS = 1e6;
/** Room around a recording, so that a short one is visible, in milliseconds. */
const MIN_MARGIN_MS = 2000;

/** Imports a recording: sends it, describes it, and stores it once it is confirmed. */
export function ImportDialog() {
  const step = useSignal('');
  const problem = useSignal('');
  const state = useSignal<RecordingImport | undefined>(undefined);
  const files = useSignal(takeDroppedFiles());
  const name = useSignal('');
  const entered = useSignal<Entered>({});
  const work = useRef({ stop: new AbortController(), id: '' });

  const end = () => {
    const { stop, id } = work.current;
    stop.abort();
    if (id !== '') void cancel(id);
    work.current = { stop: new AbortController(), id: '' };
  };
  const attempt = (act: (signal: AbortSignal) => Promise<unknown>) => {
    const { signal } = work.current.stop;
    problem.value = '';
    step.value = words.waiting;
    act(signal)
      .catch((error: Error) => {
        if (!signal.aborted) problem.value = withLabels(error.message);
      })
      .finally(() => {
        if (!signal.aborted) step.value = '';
      });
  };
  const onProgress = ({ progress }: RecordingImport) => {
    const left = progress?.seconds_left;
    step.value = progress?.total
      ? words.reading(percent(progress.bytes / progress.total), left == null ? '' : words.left(left))
      : words.waiting;
  };
  const send = () =>
    attempt(async (signal) => {
      const id = await upload(files.peek(), signal, (begun, share) => {
        work.current.id = begun;
        step.value = words.sending(percent(share));
      });
      state.value = await run(id, 'describe', choicesOf(entered.peek()), signal, onProgress);
    });
  const readAgain = () =>
    attempt(async (signal) => {
      state.value = undefined;
      state.value = await run(work.current.id, 'describe', choicesOf(entered.peek()), signal, onProgress);
    });
  const store = () =>
    attempt(async (signal) => {
      const choices = { ...choicesOf(entered.peek()), name: name.value.trim() || undefined };
      state.value = await run(work.current.id, 'store', choices, signal, onProgress);
    });
  const again = () => {
    end();
    files.value = [];
    state.value = undefined;
    entered.value = {};
    problem.value = '';
    step.value = '';
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the dialog opens
  useEffect(() => {
    if (files.peek().length > 0) send();
    return end;
  }, []);

  const { description, stored } = state.value ?? {};
  return (
    <Dialog title={words.title} testId="import">
      {files.value.length === 0 ? (
        <label class="settings-field">
          <span>{words.about}</span>
          <input
            type="file"
            multiple
            class="input"
            aria-label={words.files}
            data-testid="import-files"
            onChange={(event) => {
              files.value = [...(event.currentTarget.files ?? [])];
              if (files.value.length > 0) send();
            }}
          />
        </label>
      ) : (
        <p class="import-name" data-testid="import-name">
          <bdi>{files.value.map((file) => file.name).join(', ')}</bdi>
        </p>
      )}
      {description && !stored && <Description {...description} />}
      {description && !stored && step.value === '' && (
        <label class="settings-field">
          <span>{words.name}</span>
          <input
            class="input"
            placeholder={words.byFile}
            maxLength={256}
            data-testid="import-node"
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value;
            }}
          />
        </label>
      )}
      {files.value.length > 0 && !stored && (
        <ImportOptions entered={entered} isBusy={step.value !== ''} read={readAgain} />
      )}
      <p class="form-note" role="status" data-testid="import-step">
        {stored ? words.stored(formatInteger(stored.samples), stored.known) : step.value}
      </p>
      <p class="form-problem import-problem" role="alert" data-testid="import-problem">
        {problem.value}
      </p>
      <div class="settings-buttons">
        {stored && (
          <button
            type="button"
            class="button button-main"
            data-testid="import-show"
            onClick={() => showRecording(state.value)}
          >
            {words.show}
          </button>
        )}
        {description && !stored && step.value === '' && (
          <button type="button" class="button button-main" data-testid="import-store" onClick={store}>
            {words.start}
          </button>
        )}
        {files.value.length > 0 && (
          <button type="button" class="button" data-testid="import-cancel" onClick={again}>
            {step.value === '' ? words.another : words.cancel}
          </button>
        )}
      </div>
    </Dialog>
  );
}

/** What a recording has, and what will be left out. */
function Description({ format, series, findings }: NonNullable<RecordingImport['description']>) {
  const samples = series.reduce((sum, each) => sum + each.samples, 0);
  return (
    <div class="import-description" data-testid="import-description">
      <p>{words.summary(format, series.length, formatInteger(samples))}</p>
      <ul>
        {series.slice(0, MAX_LISTED).map((each) => (
          <li key={`${each.node}/${each.instance}/${each.from_ns}`}>
            <bdi>{each.node ? `${each.node}/${each.instance}` : each.instance}</bdi>:{' '}
            {formatInteger(each.samples)}, {timeOf(each.from_ns)} – {timeOf(each.to_ns)}
            <small>
              {' '}
              {each.schema.metrics
                .slice(0, MAX_LISTED)
                .map((metric) => `${metric.name}${metric.unit ? ` [${metric.unit}]` : ''}`)
                .join(', ')}
            </small>
          </li>
        ))}
        {series.length > MAX_LISTED && <li>{words.more(series.length - MAX_LISTED)}</li>}
      </ul>
      <Findings title={words.losses} all={findings.filter((finding) => finding.is_loss)} />
      <Findings title={words.notes} all={findings.filter((finding) => !finding.is_loss)} />
    </div>
  );
}

type Finding = NonNullable<RecordingImport['description']>['findings'][number];

function Findings({ title, all }: { title: string; all: readonly Finding[] }) {
  if (all.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {all.slice(0, MAX_LISTED).map(({ subject, text }) => (
          <li key={`${subject} ${text}`}>
            {subject && <bdi>{subject}: </bdi>}
            {text}
          </li>
        ))}
        {all.length > MAX_LISTED && <li>{words.more(all.length - MAX_LISTED)}</li>}
      </ul>
    </>
  );
}

/** Shows the instances and the time of a recording. */
function showRecording(state: RecordingImport | undefined): void {
  const { stored, description } = state ?? {};
  if (!stored) return;
  // One whose samples were stored before has no new ones.
  const all = [...(stored.to_ns > 0 ? [stored] : (description?.series ?? []))];
  const from = Math.min(...all.map((each) => each.from_ns)) / NS_IN_MS;
  const to = Math.max(...all.map((each) => each.to_ns)) / NS_IN_MS;
  const margin = Math.max((to - from) / 50, MIN_MARGIN_MS);
  for (const target of stored.instances.slice(0, MAX_SHOWN)) watch(target);
  show(from - margin, to + margin);
  openDialog.value = undefined;
}

function percent(share: number): string {
  return `${Math.floor(Math.min(share, 1) * 100)} %`;
}

function timeOf(ns: number): string {
  return new Date(ns / NS_IN_MS).toISOString().replace('.000Z', 'Z').replace('T', ' ');
}
