import type { InstanceEntry } from '../../stream/protocol.ts';
import type { Labels } from '../../wire/settings.ts';
import type { RepeatSettings } from '../shared/repeated.ts';

/** Most panels side by side; the page says how many more instances match. */
export const MAX_REPEATED_PANELS = 40;

type Selection = Pick<RepeatSettings, 'nodes' | 'instances' | 'types' | 'labels'>;
type Entry = Pick<InstanceEntry, 'node' | 'instance' | 'type'>;

/** Returns the instances that match, sorted as people count: `line-9` before `line-10`. */
export function matching<E extends Entry>(
  entries: readonly E[],
  { nodes, instances, types, labels }: Selection,
  labelsOf: (entry: E) => Labels,
): E[] {
  const isNode = matcher(nodes);
  const isInstance = matcher(instances);
  const isType = matcher(types);
  const pairs = pairsIn(labels).map(([key, value]) => [key, matcher(value)] as const);
  return entries
    .filter((entry) => {
      if (!isNode(entry.node) || !isInstance(entry.instance) || !isType(entry.type)) return false;
      if (pairs.length === 0) return true;
      const own = labelsOf(entry);
      return pairs.every(([key, isValue]) => Object.hasOwn(own, key) && isValue(own[key]));
    })
    .sort((one, other) => order(one.node, other.node) || order(one.instance, other.instance));
}

const { compare } = new Intl.Collator('en', { numeric: true });

/** Names that sort alike may differ. */
function order(one: string, other: string): number {
  return compare(one, other) || (one < other ? -1 : one > other ? 1 : 0);
}

/** Returns the pairs of a text such as `site=graz, rack`; a key alone stands for any value. */
export function pairsIn(labels: string): [string, string][] {
  return labels
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, '*'] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    });
}

/** Returns whether a name matches a pattern, in which `*` stands for any text. Takes time in proportion to the name. */
export function matcher(pattern: string): (name: string) => boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(head)) return false;
    let at = head.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return name.length - tail.length >= at && name.endsWith(tail);
  };
}
