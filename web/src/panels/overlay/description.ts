import { lazy } from '../../components/lazy.tsx';
import { strings } from '../../strings/strings.ts';
import { isFields, valuesOf } from '../../wire/fields.ts';
import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { flag, isTime, parseName, parseTarget } from '../shared/parse.ts';

/** A test run, or another span of time. */
interface OverlaidRun {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** A metric in spans of time that begin at the same place. Milliseconds by the clock of the DAC. */
    readonly overlay: {
      readonly target: Target;
      readonly metric: string;
      readonly runs: readonly OverlaidRun[];
      /** Whether all are as wide as the first. */
      readonly isScaled?: boolean;
    };
  }
}

export const overlay = describePanel<'overlay'>({
  kind: 'overlay',
  name: 'curves',
  Panel: lazy(async () => (await import('./overlay_panel.tsx')).OverlayPanel),
  parse(json) {
    const [target, metric] = [parseTarget(json.target), parseName(json.metric)];
    const runs = valuesOf(json.runs)
      .slice(0, 2)
      .flatMap((run) => parseRun(run) ?? []);
    if (!target || metric === undefined || runs.length !== 2) return undefined;
    return { kind: 'overlay', target, metric, runs, ...flag('isScaled', json.isScaled) };
  },
  targets: ({ target }) => [target],
  title: ({ metric, runs }, instances) =>
    `${instances} \u00b7 ${strings.panels.beside(metric, runs.map(({ name }) => name).join(', '))}`,
});

function parseRun(json: unknown): OverlaidRun | undefined {
  if (!isFields(json)) return undefined;
  const [name, { from, to }] = [parseName(json.name), json];
  return name !== undefined && isTime(from) && isTime(to) && from < to ? { name, from, to } : undefined;
}
