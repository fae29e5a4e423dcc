import { lazy } from '../../components/lazy.tsx';
import { findWind } from '../../series/metrics.ts';
import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { parseName, parseTarget } from '../shared/parse.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly rose: { readonly target: Target; readonly direction: string; readonly speed: string };
  }
}

export const rose = describePanel<'rose'>({
  kind: 'rose',
  name: 'wind',
  Panel: lazy(async () => (await import('./rose_panel.tsx')).RosePanel),
  parse(json) {
    const target = parseTarget(json.target);
    const [direction, speed] = [parseName(json.direction), parseName(json.speed)];
    return target && direction !== undefined && speed !== undefined
      ? { kind: 'rose', target, direction, speed }
      : undefined;
  },
  targets: ({ target }) => [target],
  choices: [
    {
      name: 'wind',
      label: 'Wind',
      about: 'A wind rose: from which direction, how often and how fast.',
      from: 'instances',
      needs: 'a direction in degrees and a speed',
      suits: (schema) => schema !== undefined && findWind(schema) !== undefined,
      build: (targets, schemaOf) =>
        targets.flatMap((target) => {
          const schema = schemaOf(target);
          const wind = schema && findWind(schema);
          return wind ? { kind: 'rose', target, ...wind } : [];
        }),
    },
  ],
});
