import { lazy } from '../../components/lazy.tsx';
import { shortText } from '../../state/expressions.ts';
import { strings } from '../../strings/strings.ts';
import { describePanel } from '../shared/description.ts';
import { parseExpressions, parseTrail, targetsOfExpressions } from '../shared/expressions.ts';
import { flag, present } from '../shared/parse.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** The second expression over the first. */
    readonly xy: {
      readonly expressions: readonly string[];
      readonly isEqual?: boolean;
      readonly isDots?: boolean;
      /** Seconds before the end of the time shown that are drawn; all of it without. */
      readonly trail?: number;
    };
  }
}

export const xy = describePanel<'xy'>({
  kind: 'xy',
  name: 'XY',
  Panel: lazy(async () => (await import('./xy_panel.tsx')).XyPanel),
  parse(json) {
    const expressions = parseExpressions(json.expressions).slice(0, 2);
    if (expressions.length !== 2) return undefined;
    return {
      kind: 'xy',
      expressions,
      ...flag('isEqual', json.isEqual),
      ...flag('isDots', json.isDots),
      ...present('trail', parseTrail(json.trail)),
    };
  },
  targets: targetsOfExpressions,
  title({ expressions }) {
    const [x, y] = expressions.map(shortText);
    return strings.panels.over(y, x);
  },
  choices: [
    {
      name: 'xy',
      label: 'XY',
      about: 'One value over another, such as a position or a characteristic; time is the color.',
      from: 'expressions',
      count: 2,
      build: (expressions) => ({ kind: 'xy', expressions }),
    },
  ],
});
