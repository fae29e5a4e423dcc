import { lazy } from '../../components/lazy.tsx';
import { isNumber } from '../../series/metrics.ts';
import { logicOf, type PanelContent, targetsOf } from '../../state/panel_kinds.ts';
import { valuesOf } from '../../wire/fields.ts';
import { isSame } from '../../wire/same.ts';
import { keyOf, type Target, targetOfKey } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { sourcesOf } from '../shared/expressions.ts';
import { parseName, present } from '../shared/parse.ts';
import { isRepeatable, panelFor, type RepeatSettings, repeated, withoutId } from '../shared/repeated.ts';
import type { PanelSettings } from '../shared/settings.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** A panel for each instance that matches. */
    readonly repeat: RepeatSettings;
  }
}

/** Longest pattern, as fleets have it. */
const MAX_PATTERN_LENGTH = 200;
const MAX_FOLDED = 200;

export const repeat = describePanel<'repeat'>({
  kind: 'repeat',
  name: 'repeat',
  Panel: lazy(async () => (await import('./repeat_panel.tsx')).RepeatPanel),
  // A wall of panels needs the room.
  place: 'main',
  isContinued: true,
  parse(json, parseContent) {
    const panel = parseContent(json.panel);
    if (!panel || !isRepeatable(panel)) return undefined;
    const folded = valuesOf(json.folded)
      .slice(0, MAX_FOLDED)
      .flatMap((node) => parseName(node) ?? []);
    return {
      kind: 'repeat',
      nodes: pattern(json.nodes) ?? '*',
      instances: pattern(json.instances) ?? '*',
      types: pattern(json.types) ?? '*',
      labels: pattern(json.labels) ?? '',
      panel,
      ...present('folded', folded.length > 0 ? folded : undefined),
    };
  },
  // Like a fleet, it watches no instance by name.
  targets: () => [],
  title({ nodes, instances, panel }) {
    const each = `each ${nodes === '*' ? '' : `${nodes}/`}${instances}`;
    const { name, title } = logicOf(panel.kind);
    return title?.(panel, each) ?? `${each} \u00b7 ${name}`;
  },
  inner({ panel }, key) {
    const [first] = targetsOf(panel);
    return panelFor(panel, first, targetOfKey(key));
  },
  withInner(content, key, changed) {
    const [first] = targetsOf(content.panel);
    const target = targetOfKey(key);
    const wanted = withoutId(changed);
    if (!isRenamedBack(content.panel, first, target)) {
      // Which of its instances is the repeated one is not known of this panel.
      const shown = panelFor(content.panel, first, target);
      return isSame(withLook(shown, wanted), wanted)
        ? { ...content, panel: withLook(content.panel, wanted) }
        : undefined;
    }
    const panel = panelFor(wanted, target, first);
    return isRepeatable(panel) && isRenamedBack(wanted, target, first) ? { ...content, panel } : undefined;
  },
  choices: [
    {
      name: 'repeat',
      label: 'Chart for each instance',
      about: 'The same chart for every instance like the chosen one, also for those that appear later.',
      from: 'metrics',
      needs: 'a number',
      fits: isNumber,
      build(metrics) {
        const first = keyOf(metrics[0].target);
        const sources = sourcesOf(metrics.filter(({ target }) => keyOf(target) === first));
        return [{ kind: 'repeat', ...repeated({ kind: 'series', sources, mode: 'lines' }) }];
      },
    },
  ],
});

/** Whether a panel that is given the names of another instance, and then its own, is what it was. */
function isRenamedBack(panel: PanelContent, from: Target, to: Target): boolean {
  // Expressions are written anew also with the same names.
  return isSame(panelFor(panelFor(panel, from, to), to, from), panelFor(panel, from, from));
}

/** A panel with the title and the settings of another one, and its own colors, which have names of instances. */
function withLook(panel: PanelContent, other: PanelContent): PanelContent {
  const { title: _, settings: own, ...rest } = panel as Look;
  const { title, settings } = other as Look;
  const colors = own?.colors;
  const look = settings || colors ? { ...settings, colors } : undefined;
  return { ...rest, ...present('title', title), ...present('settings', look) } as PanelContent;
}

interface Look {
  readonly title?: string;
  readonly settings?: PanelSettings;
}

function pattern(json: unknown): string | undefined {
  return typeof json === 'string' && json !== '' && json.length <= MAX_PATTERN_LENGTH ? json : undefined;
}
