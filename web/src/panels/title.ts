import { shortText } from '../state/expressions.ts';
import { nameOf } from '../state/names.ts';
import { strings } from '../strings.ts';
import { visible } from '../text/visible.ts';
import type { PanelSpec } from './spec.ts';
import { targetsOf } from './spec.ts';

const words = strings.panels;
/** A chart of more instances says how many. */
const MOST_NAMES = 4;

/** Returns the title on a panel's tab. */
export function titleOf(spec: PanelSpec): string {
  return visible(rawTitle(spec));
}

function rawTitle(spec: PanelSpec): string {
  return ('settings' in spec ? spec.settings?.title : undefined) ?? defaultTitle(spec);
}

/** Returns the title of a panel that nobody has given one. */
export function defaultTitle(spec: PanelSpec): string {
  const names = [...new Set(targetsOf(spec).map(nameOf))];
  const instances = names.length > MOST_NAMES ? words.instances(names.length) : names.join(', ');
  switch (spec.kind) {
    case 'instance':
      return instances;
    case 'auto':
      return `${instances} \u00b7 ${words.kind.series}`;
    case 'gauge':
      return `${instances} \u00b7 ${spec.metric} ${words.kind.gauge}`;
    case 'heat':
      return `${instances} \u00b7 ${spec.metric} ${words.kind.heat}`;
    case 'histogram':
      return `${instances} \u00b7 ${spec.metric === null ? words.intervals : `${spec.metric} ${words.kind.histogram}`}`;
    case 'series': {
      const metrics = [
        ...spec.sources.flatMap((source) => source.metrics),
        ...(spec.expressions ?? []).map(shortText),
      ];
      const what = spec.title ?? (metrics.length <= 2 ? metrics.join(', ') : words.mode[spec.mode]);
      // An expression names its instances.
      return spec.sources.length === 0 ? metrics.join(', ') : `${instances} \u00b7 ${what}`;
    }
    case 'xy': {
      const [x, y] = spec.expressions.map(shortText);
      return words.over(y, x);
    }
    case 'spectrum':
    case 'statistics':
      return `${spec.expressions.map(shortText).join(', ')} \u00b7 ${words.kind[spec.kind]}`;
    case 'map':
      return `${spec.tracks.map(({ target }) => nameOf(target)).join(', ')} \u00b7 ${words.kind.map}`;
    case 'number':
      return spec.expressions.map(shortText).join(', ');
    case 'logs':
      return instances === '' ? words.kind.logs : `${instances} \u00b7 ${words.kind.logs}`;
    case 'sql':
      return commentOf(spec.query) ?? words.kind.sql;
    case 'text':
      return headingOf(spec.text) ?? words.kind.text;
    case 'overlay':
      return `${instances} \u00b7 ${words.beside(spec.metric, spec.runs.map(({ name }) => name).join(', '))}`;
    case 'fleet':
      return spec.nodes === '*' ? words.kind.fleet : `${words.kind.fleet} \u00b7 ${spec.nodes}`;
    case 'ledger':
    case 'alarms':
    case 'alarm-history':
    case 'rules':
    case 'test-runs':
      return words.kind[spec.kind];
    default:
      return `${instances} \u00b7 ${words.kind[spec.kind]}`;
  }
}

/** The first heading of a text; undefined if it has none. */
function headingOf(text: string): string | undefined {
  const heading = /^#{1,4}\s+(.{1,40})/m
    .exec(text)?.[1]
    .replace(/[*`]|\{\{.*?\}\}/g, '')
    .trim();
  return heading === '' ? undefined : heading;
}

/** The comment that a query begins with; undefined without one. */
function commentOf(query: string): string | undefined {
  const comment = /^\s*--\s*(.{1,40})/.exec(query)?.[1].trim();
  return comment === '' ? undefined : comment;
}
