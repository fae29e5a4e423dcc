import { FUNCTIONS, type FunctionName } from './syntax.ts';
import { quoteName } from './tokens.ts';

/** What could stand where somebody is typing. */
export interface Suggestion {
  /** Replaces the text from `from` to the caret. */
  readonly insert: string;
  readonly from: number;
  readonly name: string;
  /** The node of an instance, or the unit of a metric. */
  readonly detail: string;
}

export interface Named {
  readonly node: string;
  readonly instance: string;
}

/** A metric of an instance that an expression can use. */
export interface NamedMetric {
  readonly name: string;
  readonly detail: string;
}

const MAX_SUGGESTIONS = 12;
/** The name that is being typed, with the names before it: `node/instance.met`. */
const TYPED =
  /(?:(?:"(?:[^"\\]|\\.)*"|[\p{L}_][\p{L}\p{N}_]*)[/.])*(?:"(?:[^"\\]|\\.)*"?|[\p{L}_][\p{L}\p{N}_]*)?$/u;

/** Suggests what the names before the caret could become. */
export function suggest(
  before: string,
  instances: readonly Named[],
  metricsOf: (target: Named) => readonly NamedMetric[],
): Suggestion[] {
  const typed = currentName(TYPED.exec(before)?.[0] ?? '');
  const from = before.length - typed.length;
  if (typed === '') return [];
  const [path, metric] = split(typed);
  // A node that was typed without its quotes leaves its own instances.
  const own = instances.filter((entry) => isBare(entry, from, before));
  const among = own.length > 0 ? own : instances;
  if (metric !== undefined) return metrics(path, metric, from, before, among, metricsOf);
  return [...functions(path, from), ...names(path, from, before, among)].slice(0, MAX_SUGGESTIONS);
}

/** Leaves out a metric that is divided: `a.b/instance.met`. */
function currentName(typed: string): string {
  const parts = piecesOf(typed);
  const dot = parts.indexOf('.');
  const slash = parts.indexOf('/');
  if (dot < 0 || slash < 0 || slash < dot) return typed;
  return currentName(parts.slice(slash + 1).join(''));
}

/** Splits into names, quoted or not, and the signs between them. */
function piecesOf(typed: string): string[] {
  return typed.match(/"(?:[^"\\]|\\.)*"?|[/.]|[^"/.]+/g) ?? [];
}

/** The names before the first point, and what follows it. */
function split(typed: string): [string, string | undefined] {
  const pieces = piecesOf(typed);
  const dot = pieces.indexOf('.');
  if (dot < 0) return [typed, undefined];
  return [pieces.slice(0, dot).join(''), pieces.slice(dot + 1).join('')];
}

function functions(typed: string, from: number): Suggestion[] {
  return (Object.keys(FUNCTIONS) as FunctionName[])
    .filter((name) => name.startsWith(typed))
    .map((name) => ({ insert: `${name}(`, from, name: `${name}()`, detail: '' }));
}

function names(typed: string, from: number, before: string, instances: readonly Named[]): Suggestion[] {
  const wanted = plain(typed);
  const found = instances.filter((entry) => `${entry.node}/${entry.instance}`.toLowerCase().includes(wanted));
  const isFirst = ({ instance }: Named) => instance.toLowerCase().startsWith(wanted);
  const sorted = [...found.filter(isFirst), ...found.filter((entry) => !isFirst(entry))].slice(
    0,
    MAX_SUGGESTIONS,
  );
  return sorted.map((entry) => ({
    ...placed(entry, typed, from, before, instances, ''),
    name: entry.instance,
    detail: entry.node,
  }));
}

function metrics(
  path: string,
  typed: string,
  from: number,
  before: string,
  instances: readonly Named[],
  metricsOf: (target: Named) => readonly NamedMetric[],
): Suggestion[] {
  const wanted = plain(typed);
  const at = plain(path);
  return instances
    .filter(({ node, instance }) =>
      [instance.toLowerCase(), `${node}/${instance}`.toLowerCase()].includes(at),
    )
    .slice(0, MAX_SUGGESTIONS)
    .flatMap((entry) =>
      metricsOf(entry)
        .filter(({ name }) => name.toLowerCase().includes(wanted))
        .map(({ name, detail }) => ({
          ...placed(entry, path, from, before, instances, name),
          name,
          detail: [entry.node, detail].filter(Boolean).join(' \u00b7 '),
        })),
    )
    .slice(0, MAX_SUGGESTIONS);
}

/** The instance with its node if somebody has typed a node, or if other nodes have an instance of that name. */
function placed(
  { node, instance }: Named,
  typed: string,
  from: number,
  before: string,
  instances: readonly Named[],
  metric: string,
): Pick<Suggestion, 'insert' | 'from'> {
  const isShared = instances.some((other) => other.instance === instance && other.node !== node);
  const isBefore = isBare({ node }, from, before);
  const hasNode = isShared || isBefore || piecesOf(typed).includes('/');
  return {
    insert: `${hasNode ? `${quoteName(node)}/` : ''}${quoteName(instance)}.${metric}`,
    from: isBefore ? from - node.length - 1 : from,
  };
}

/** Whether a node stands before the name without its quotes, as in `plant-7/oven`: it is not part of the name then. */
function isBare({ node }: Pick<Named, 'node'>, from: number, before: string): boolean {
  const start = from - node.length - 1;
  return start >= 0 && before.slice(start, from) === `${node}/`;
}

/** Names without their quotes, in lower case. */
function plain(typed: string): string {
  return typed.replace(/"/g, '').toLowerCase();
}
