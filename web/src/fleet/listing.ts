import { type Labels, parseLabels } from '../wire/settings.ts';
import { type FleetBook, type Member, numeric } from './book.ts';
import { groupOf } from './group.ts';
import {
  type FleetColumn,
  type FleetLine,
  type FleetLook,
  type FleetMetricColumn,
  type FleetRow,
  type FleetType,
  type FleetValue,
  type Health,
  healths,
} from './query.ts';

/** A row with the members whose sparklines it shows. */
export interface Listed {
  readonly row: FleetRow;
  /** For each metric the member that its value is of. */
  readonly members: readonly (Member | undefined)[];
}

/** The list of a fleet panel: filtered, sorted, grouped. */
export interface Listing {
  readonly lines: readonly (Listed | { readonly group: FleetLine })[];
  readonly matched: number;
  readonly healths: readonly number[];
  readonly nodes: number;
  readonly types: readonly FleetType[];
}

const RANKS = new Map<Health, number>(healths.map((health, rank) => [health, rank]));

function rankOf(health: Health): number {
  return RANKS.get(health) ?? 0;
}

/** Makes the list of a fleet as of now. */
export function listingOf(book: FleetBook, look: FleetLook, now: number): Listing {
  const rowsOf = look.rows === 'nodes' ? nodesOf : instancesOf;
  const all = rowsOf(book, look.metrics, now);
  const nodes = new Set([...book.members.values()].map(({ node }) => node)).size;
  const found = all.filter(({ row }) => matches(row, look.words));
  const counts = countHealths(found);
  const sorted = sort(found, look);
  const lines = look.group.by === 'none' ? sorted : grouped(sorted, look);
  return { lines, matched: found.length, healths: counts, nodes, types: book.types() };
}

/** The value of a member in a column; null if its type has another unit there. */
function valueIn(member: Member, { metric, schemas }: FleetMetricColumn): FleetValue {
  return schemas === undefined || schemas.includes(member.schema) ? (member.values[metric] ?? null) : null;
}

/** The rate at which samples come; null if it is not known, or none come. */
function rateOf(member: Member, health: Health): number | null {
  return health === 'offline' || health === 'disabled' ? null : member.hertz;
}

function instancesOf(book: FleetBook, metrics: readonly FleetMetricColumn[], now: number): Listed[] {
  const listed: Listed[] = [];
  for (const member of book.members.values()) {
    const values = metrics.map((column) => valueIn(member, column));
    const owners = values.map((value) => (value === null ? undefined : member));
    const health = book.healthOf(member, now);
    const row: FleetRow = {
      kind: 'row',
      id: member.id,
      node: member.node,
      instance: member.instance,
      type: member.type,
      labels: member.labels,
      count: 1,
      health,
      age: book.ageOf(member, now),
      hertz: rateOf(member, health),
      explained: member.explained,
      unexplained: member.unexplained,
      alarms: member.alarms,
      values,
      sources: owners.map((owner) => owner?.instance),
      schemas: owners.map((owner) => owner?.schema),
    };
    listed.push({ row, members: owners });
  }
  return listed;
}

/** One row for each node: its worst state, its oldest age, sums, and the greatest value of each metric. */
function nodesOf(book: FleetBook, metrics: readonly FleetMetricColumn[], now: number): Listed[] {
  const byNode = new Map<string, Member[]>();
  for (const member of book.members.values()) {
    const known = byNode.get(member.node);
    if (known) known.push(member);
    else byNode.set(member.node, [member]);
  }
  return [...byNode].map(([node, members]) => nodeRow(book, node, members, metrics, now));
}

function nodeRow(
  book: FleetBook,
  node: string,
  members: Member[],
  metrics: readonly FleetMetricColumn[],
  now: number,
): Listed {
  const [first] = members;
  let health: Health = 'live';
  let age: number | undefined;
  let [explained, unexplained] = [0, 0];
  let hertz: number | null = null;
  const alarms = [0, 0, 0, 0];
  const greatest: (Member | undefined)[] = metrics.map(() => undefined);
  for (const member of members) {
    const own = book.healthOf(member, now);
    if (rankOf(own) < rankOf(health)) health = own;
    const ownAge = book.ageOf(member, now);
    // A disabled instance is silent on purpose.
    if (ownAge !== undefined && own !== 'disabled') age = Math.max(age ?? 0, ownAge);
    const ownRate = rateOf(member, own);
    if (ownRate !== null) hertz = (hertz ?? 0) + ownRate;
    explained += member.explained;
    unexplained += member.unexplained;
    for (const [severity, count] of member.alarms.entries()) alarms[severity] += count;
    for (const [place, column] of metrics.entries()) {
      const value = valueIn(member, column);
      if (value === null) continue;
      const known = greatest[place];
      if (!known || numeric(value) > numeric(valueIn(known, column))) greatest[place] = member;
    }
  }
  const types = new Set(members.map(({ type }) => type));
  const row: FleetRow = {
    kind: 'row',
    id: first.id,
    node,
    instance: undefined,
    type: types.size === 1 ? first.type : '',
    labels: sharedLabels(members),
    count: members.length,
    health,
    age,
    hertz,
    explained,
    unexplained,
    alarms,
    values: greatest.map((member, place): FleetValue => (member ? valueIn(member, metrics[place]) : null)),
    sources: greatest.map((member) => member?.instance),
    schemas: greatest.map((member) => member?.schema),
  };
  return { row, members: greatest };
}

/** Returns the labels that all members have. */
function sharedLabels([first, ...others]: readonly Member[]): Labels {
  if (others.every(({ labels }) => labels === first.labels)) return first.labels;
  const isShared = ([key, value]: [string, string]) => others.every(({ labels }) => labels[key] === value);
  return parseLabels(Object.fromEntries(Object.entries(first.labels).filter(isShared)));
}

function matches(row: FleetRow, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const labels = Object.entries(row.labels).map(([key, value]) => ` ${key}=${value}`);
  const names = `${row.node} ${row.instance ?? ''} ${row.type} ${row.health}${labels.join('')}`.toLowerCase();
  return words.every((word) => names.includes(word));
}

const collator = new Intl.Collator('en', { numeric: true });

/** Rows without a value come last in both directions; equal ones in the order of their names. */
function sort(listed: Listed[], { order }: FleetLook): Listed[] {
  const sign = order.isDown ? -1 : 1;
  if (order.by === 'name') return listed.sort((one, other) => sign * byName(one.row, other.row));
  if (order.by === 'node')
    return listed.sort((one, other) => sign * collator.compare(one.row.node, other.row.node));
  const keyed = listed.map((entry) => ({ entry, key: keyOf(entry.row, order.by) }));
  keyed.sort((one, other) => {
    const [hasOne, hasOther] = [!Number.isNaN(one.key), !Number.isNaN(other.key)];
    if (hasOne !== hasOther) return hasOne ? -1 : 1;
    const difference = hasOne ? sign * (one.key - other.key) : 0;
    return difference === 0 || Number.isNaN(difference) ? byName(one.entry.row, other.entry.row) : difference;
  });
  return keyed.map(({ entry }) => entry);
}

function byName(one: FleetRow, other: FleetRow): number {
  if (one.instance !== undefined && one.instance !== other.instance)
    return collator.compare(one.node, other.node) || collator.compare(one.instance, other.instance ?? '');
  return collator.compare(one.node, other.node);
}

function keyOf(row: FleetRow, by: FleetColumn): number {
  switch (by) {
    case 'health':
      return rankOf(row.health);
    case 'age':
      return row.age ?? Number.NaN;
    case 'rate':
      return row.hertz ?? Number.NaN;
    case 'missing':
      // One sample without a cause is worse than any number with one.
      return row.unexplained > 0 ? 1e15 + row.unexplained : row.explained;
    case 'alarms':
      return alarmRank(row.alarms);
    case 'metric-0':
    case 'metric-1':
    case 'metric-2':
      return numeric(row.values[Number(by.slice(-1))] ?? null);
    default:
      return 0;
  }
}

/** The most severe alarms count most. */
function alarmRank([low = 0, medium = 0, high = 0, critical = 0]: readonly number[]): number {
  return low + 1e3 * (medium + 1e3 * (high + 1e3 * critical));
}

/** Groups in the order of their names; the rows that belong to none come last. */
function grouped(sorted: readonly Listed[], look: FleetLook): Listing['lines'] {
  const groups = new Map<string, Listed[]>();
  for (const entry of sorted) {
    const name = groupOf(look.group, entry.row);
    const known = groups.get(name);
    if (known) known.push(entry);
    else groups.set(name, [entry]);
  }
  const names = [...groups.keys()].sort((one, other) => {
    if ((one === '') !== (other === '')) return one === '' ? 1 : -1;
    return collator.compare(one, other);
  });
  return names.flatMap((name) => {
    const own = groups.get(name) ?? [];
    const isOpen = !look.folded.includes(name);
    const group: FleetLine = { kind: 'group', name, count: own.length, isOpen, healths: countHealths(own) };
    return [{ group }, ...(isOpen ? own : [])];
  });
}

function countHealths(listed: readonly Listed[]): number[] {
  const counts = healths.map(() => 0);
  for (const { row } of listed) counts[rankOf(row.health)]++;
  return counts;
}
