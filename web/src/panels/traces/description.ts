import { lazy } from '../../components/lazy.tsx';
import { areSpans } from '../../traces/are_spans.ts';
import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { withoutTarget } from '../shared/expressions.ts';
import { parseTargets, present } from '../shared/parse.ts';
import { TRACE_COLORS, type TraceColor } from './colors.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** Spans of programs as trees. */
    readonly traces: { readonly targets: readonly Target[]; readonly color?: TraceColor };
  }
}

export const traces = describePanel<'traces'>({
  kind: 'traces',
  name: 'traces',
  Panel: lazy(async () => (await import('./traces_panel.tsx')).TracesPanel),
  parse(json) {
    const targets = parseTargets(json.targets);
    const color = TRACE_COLORS.find((name) => name === json.color);
    return targets.length > 0 ? { kind: 'traces', targets, ...present('color', color) } : undefined;
  },
  targets: ({ targets }) => targets,
  without: withoutTarget,
  choices: [
    {
      name: 'traces',
      label: 'Traces',
      about: 'Spans of programs as a waterfall: what was part of what, and how long it took.',
      from: 'instances',
      needs: 'spans',
      suits: (schema) => areSpans(schema?.metrics ?? []),
      build: (targets) => (targets.length === 0 ? [] : [{ kind: 'traces', targets }]),
    },
  ],
});
