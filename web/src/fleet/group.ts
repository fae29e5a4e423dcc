import type { FleetRow, Grouping } from './query.ts';

/** Returns the group of a row; an empty name for rows that no pattern matches. */
export function groupOf(
  grouping: Grouping,
  row: Pick<FleetRow, 'node' | 'instance' | 'type' | 'labels'>,
): string {
  switch (grouping.by) {
    case 'none':
      return '';
    case 'node':
      return row.node;
    case 'type':
      return row.type;
    case 'prefix':
      return prefixOf(row.node, grouping.text);
    case 'label':
      return row.labels[grouping.text] ?? '';
    case 'pattern':
      return captured(grouping.text, row.node) ?? captured(grouping.text, row.instance ?? '') ?? '';
  }
}

/** Returns the part of a name before its last delimiter; without a delimiter, the name without the number at its end. */
export function prefixOf(name: string, delimiter: string): string {
  if (delimiter === '') return name.replace(/[-_./ ]?\d+$/, '') || name;
  const end = name.lastIndexOf(delimiter);
  return end > 0 ? name.slice(0, end) : name;
}

/** Returns what the first `*` of a pattern stands for, as short as possible; undefined if the pattern does not match. */
export function captured(pattern: string, name: string): string | undefined {
  const parts = pattern.split('*');
  const [head = '', ...rest] = parts;
  if (rest.length === 0) return pattern === name ? name : undefined;
  if (!name.startsWith(head)) return undefined;
  let at = head.length;
  let found: string | undefined;
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const end = isLast ? name.length - part.length : name.indexOf(part, at);
    if (end < at || (isLast && !name.endsWith(part))) return undefined;
    found ??= name.slice(at, end);
    at = end + part.length;
  }
  return found;
}
