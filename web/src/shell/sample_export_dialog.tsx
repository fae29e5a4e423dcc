import type { Schema } from '@oasis/wire';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { fileName, saveFile } from '../charts/save_file.ts';
import { Dialog } from '../components/dialog.tsx';
import { formatInteger } from '../format/number.ts';
import { formatCursor } from '../format/time.ts';
import { formatBytes } from '../format/unit.ts';
import { type ExportFormat, exportFormats, isShared, isText } from '../raw_export/formats.ts';
import { MAX_BYTES, type Progress, SampleFile, TooLarge } from '../raw_export/read.ts';
import { activeDock } from '../state/active_dock.ts';
import { byNode } from '../state/alarm_clock.ts';
import { archiveFolder } from '../state/archive_condition.ts';
import { copyText } from '../state/copy.ts';
import { targetsOf } from '../state/panel_kinds.ts';
import { panels, shownTargets } from '../state/panels.ts';
import { schemaOfTarget } from '../state/target_schema.ts';
import { ends } from '../state/time.ts';
import { strings } from '../strings/strings.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { sampleExportStrings as words } from './sample_export_strings.ts';

/** Saves every sample of the time shown as a file, read from the DAC. */
export function SampleExportDialog() {
  const targets = shownTargets.value;
  const [from, to] = useMemo(() => ends(), []);
  const picked = useSignal<ReadonlySet<string>>(new Set(activeKeys(targets)));
  const format = useSignal<ExportFormat>('csv');
  const chosen = targets.filter((target) => picked.value.has(keyOf(target)));
  const at = (time: number) => formatCursor(time, to - from);
  const toggle = (target: Target) => {
    const next = new Set(picked.value);
    if (!next.delete(keyOf(target))) next.add(keyOf(target));
    picked.value = next;
  };
  return (
    <Dialog title={words.title} testId="sample-export">
      <p class="hint">{words.about(at(from), at(to))}</p>
      <fieldset class="export-instances">
        <legend>{words.instances}</legend>
        {targets.length === 0 && <p class="hint">{words.none}</p>}
        {targets.map((target) => (
          <label key={keyOf(target)} class="panel-toggle">
            <input
              type="checkbox"
              checked={picked.value.has(keyOf(target))}
              data-testid="export-instance"
              onChange={() => toggle(target)}
            />
            <bdi>{target.node}</bdi>/<bdi>{target.instance}</bdi>
          </label>
        ))}
      </fieldset>
      <label class="settings-field">
        <span>{words.format}</span>
        <select
          class="input"
          data-testid="export-format"
          value={format.value}
          onChange={(event) => {
            format.value = exportFormats.find((name) => name === event.currentTarget.value) ?? 'csv';
          }}
        >
          {exportFormats.map((name) => (
            <option key={name} value={name}>
              {words.formats[name]}
            </option>
          ))}
        </select>
      </label>
      <Saving targets={chosen} format={format.value} from={from} to={to} />
      <Command targets={chosen} format={format.value} from={from} to={to} />
    </Dialog>
  );
}

/** The instances of the active panel, or else all. */
function activeKeys(targets: readonly Target[]): string[] {
  const active = panels.peek().find(({ id }) => id === activeDock()?.activeId);
  const found = active ? targetsOf(active) : [];
  return (found.length > 0 ? found : targets).map(keyOf);
}

interface ExportSelection {
  targets: readonly Target[];
  format: ExportFormat;
  from: number;
  to: number;
}

/** The button that saves, what it has read so far, and how it ended. */
function Saving(wanted: ExportSelection) {
  const said = useSignal('');
  const running = useSignal<AbortController | undefined>(undefined);
  const isOpen = useRef(true);
  // A dialog that is closed reads no further.
  useEffect(
    () => () => {
      isOpen.current = false;
      running.peek()?.abort();
    },
    [running],
  );
  const save = async () => {
    const stop = new AbortController();
    running.value = stop;
    try {
      said.value = await saveAll(wanted, stop.signal, (progress) => {
        said.value = words.progress(...amountsOf(progress, wanted.format));
      });
    } catch (error) {
      said.value = problemOf(error, stop.signal);
    } finally {
      running.value = undefined;
    }
  };
  return (
    <div class="settings-buttons">
      {running.value ? (
        <button
          type="button"
          class="button"
          data-testid="export-stop"
          onClick={() => running.peek()?.abort()}
        >
          {words.stop}
        </button>
      ) : (
        <button
          type="button"
          class="button button-main"
          disabled={wanted.targets.length === 0}
          data-testid="export-start"
          onClick={() => void save()}
        >
          {words.start}
        </button>
      )}
      <p class="form-note" role="status" data-testid="export-said">
        {said.value}
      </p>
    </div>
  );
}

/** Reads one file after the other. A file is saved when it is whole. Returns how it ended. */
async function saveAll(wanted: ExportSelection, signal: AbortSignal, report: (progress: Progress) => void) {
  const { targets, format } = wanted;
  const all = { samples: 0, bytes: 0, missing: new Map<string, number>() };
  for (const group of isShared(format) ? [targets] : targets.map((target) => [target])) {
    const file = new SampleFile(report);
    await write(file, { ...wanted, targets: group }, signal);
    const { samples, bytes, missing } = file.progress;
    all.samples += samples;
    all.bytes += bytes;
    for (const [cause, count] of missing) all.missing.set(cause, (all.missing.get(cause) ?? 0) + count);
    const name = group.length === 1 ? `${group[0].node} ${group[0].instance}` : 'samples';
    if (bytes > 0 && (samples > 0 || !isText(format))) saveFile(fileName(name, format), file.content);
  }
  if (all.samples === 0 && isText(format)) return words.nothing;
  const missing = [...all.missing].map(([cause, count]) => `${formatInteger(count)} (${cause})`).join(', ');
  return words.saved(...amountsOf(all, format), missing);
}

async function write(
  file: SampleFile,
  { targets, format, from, to }: ExportSelection,
  signal: AbortSignal,
): Promise<void> {
  if (!isText(format)) return file.addBytes(format, targets, { from, to }, signal);
  for (const target of targets) {
    const schema: Schema | undefined = schemaOfTarget(target);
    if (!schema) throw new Error(words.waiting(`${target.node} ${target.instance}`));
    await file.add(format, { target, schema, from, to }, signal);
  }
}

/** The samples of what the DAC writes are counted when the file is whole. */
function amountsOf({ samples, bytes }: Progress, format: ExportFormat): [samples: string, bytes: string] {
  return [isText(format) || samples > 0 ? formatInteger(samples) : '', formatBytes(bytes)];
}

function problemOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return words.stopped;
  if (error instanceof TooLarge) return words.tooLarge(formatBytes(MAX_BYTES));
  return error instanceof Error ? error.message : strings.api.unreachable;
}

/** What saves the same without a browser. */
function Command({ targets, format, from, to }: ExportSelection) {
  if (targets.length === 0) return null;
  const [first] = targets;
  const [start, end] = [from, to].map((time) => new Date(byNode(first.node, time)).toISOString());
  const names = targets.map(({ node, instance }) => quoted(`${node}/${instance}`)).join(' ');
  const archive = archiveFolder.value === '' ? '' : ` --archive ${quoted(archiveFolder.value)}`;
  const text = `oasis export${archive} ${names} --from ${start} --to ${end} --format ${format} -o ${isShared(format) ? `samples.${format}` : 'samples/'}`;
  return (
    <div class="export-command">
      <p class="hint">{words.command}</p>
      <code data-testid="export-command">{text}</code>
      <button type="button" class="button button-quiet" onClick={() => void copyText(text)}>
        {words.copy}
      </button>
    </div>
  );
}

/** A name for a shell. */
function quoted(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
