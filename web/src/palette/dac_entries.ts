import { fetchJson } from '../api/api.ts';
import { openDashboard, saveDashboard } from '../dashboards/open.ts';
import { dacLayouts, listLayouts, type Replaced } from '../state/dac_layouts.ts';
import { dashboard } from '../state/dashboard.ts';
import { type HandlerStatus, parseHandlers } from '../state/handlers.ts';
import { mayAdminister } from '../state/session.ts';
import { hasArchive } from '../state/store.ts';
import { listTestRuns, startTestRun, stopTestRun, testRuns } from '../state/test_runs.ts';
import { strings } from '../strings/strings.ts';
import { askDac, run } from './dac_requests.ts';
import type { PaletteEntry, PaletteLevel } from './entry.ts';

const words = strings.palette;
const MOST_SHARDS = 1024;

let handlers: readonly HandlerStatus[] = [];

/** Reads what the entries name. What the DAC refuses to tell is left out. */
export async function prepareDac(): Promise<void> {
  await Promise.allSettled([
    listLayouts(),
    ...(hasArchive.peek() ? [listTestRuns()] : []),
    fetchJson('GET', 'handlers').then((answer) => {
      handlers = parseHandlers(answer);
    }),
  ]);
}

/** Dashboards. */
export function* layoutEntries(): Iterable<PaletteEntry> {
  for (const { name } of dacLayouts.peek()) {
    const title = words.layout(name);
    yield {
      id: `dashboard ${name}`,
      kind: 'dashboard',
      title,
      words: words.layoutWords,
      run: () => void run(title, () => openDashboard(name)),
    };
  }
  yield {
    id: 'save-dashboard',
    kind: 'dashboard',
    title: words.saveLayout,
    level: () =>
      named(words.saveLayout, words.layoutName, (name) => ({
        title: words.saveAs(name),
        run: () => void run(words.saveAs(name), () => saveDashboard(name, replacedBy(name))),
      })),
  };
}

/** A new name must be new, and the open dashboard is saved over what the page has read. */
function replacedBy(name: string): Replaced {
  const shown = dashboard.peek();
  return shown?.name === name && shown.revision > 0 ? shown.revision : 'nothing';
}

/** What the DAC can do apart from its instances. */
export function* dacCommands(): Iterable<PaletteEntry> {
  if (hasArchive.peek()) yield* archiveCommands();
  if (!mayAdminister.peek()) return;
  if (hasArchive.peek()) {
    yield {
      id: 'confirm-clock',
      kind: 'control',
      title: words.confirmClock,
      detail: words.confirmClockDetail,
      sure: words.sureToConfirmClock,
      run: () => askDac(words.confirmClock, 'POST', 'archive/retention/confirm'),
    };
  }
  for (const { name, condition } of handlers) {
    const isStopped = condition === 'stopped' || condition === 'failed';
    const title = isStopped ? words.startHandler(name) : words.stopHandler(name);
    const verb = isStopped ? 'start' : 'stop';
    yield {
      id: `handler ${name}`,
      kind: 'control',
      title,
      ...(!isStopped && { sure: words.sureToStop(name) }),
      run: () => askDac(title, 'POST', `handlers/${encodeURIComponent(name)}/${verb}`),
    };
  }
  yield { id: 'shards', kind: 'control', title: words.shards, level: shardsLevel };
}

function* archiveCommands(): Iterable<PaletteEntry> {
  yield {
    id: 'flush',
    kind: 'control',
    title: words.flush,
    run: () => askDac(words.flush, 'POST', 'archive/flush'),
  };
  yield {
    id: 'start-test-run',
    kind: 'control',
    title: words.startTestRun,
    level: () =>
      named(words.startTestRun, words.testRunName, (name) => ({
        title: words.startNamed(name),
        run: () => void run(words.startNamed(name), () => startTestRun(name, [], '')),
      })),
  };
  for (const testRun of testRuns.peek()?.runs ?? []) {
    if (testRun.stopped !== undefined) continue;
    const title = words.stopTestRun(testRun.name);
    yield {
      id: `stop-test-run ${testRun.id}`,
      kind: 'control',
      title,
      sure: words.sureToStopTestRun(testRun.name),
      run: () => void run(title, () => stopTestRun(testRun)),
    };
  }
}

function shardsLevel(): PaletteLevel {
  return {
    title: words.shards,
    placeholder: words.shardsField,
    isValue: true,
    entries: (typed) => {
      const text = typed.trim();
      const shards = Number(text);
      const isNumber = /^\d+$/.test(text) && shards <= MOST_SHARDS;
      if (!isNumber && text !== 'auto') return [];
      const title = words.shardsOf(text);
      return [
        {
          id: 'shards-of',
          kind: 'control',
          title,
          run: () => askDac(title, 'PUT', 'shards', { shards: isNumber ? shards : text }),
        },
      ];
    },
  };
}

/** A level that takes a name. */
function named(
  title: string,
  placeholder: string,
  entryOf: (name: string) => Pick<PaletteEntry, 'title' | 'run'>,
): PaletteLevel {
  return {
    title,
    placeholder,
    isValue: true,
    entries: (typed) => {
      const name = typed.trim();
      return name === '' ? [] : [{ id: 'named', kind: 'control', ...entryOf(name) }];
    },
  };
}
