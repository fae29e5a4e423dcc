import { type Fields, listOf, valuesOf } from '../wire/fields.ts';
import { type Labels, parseLabels } from '../wire/settings.ts';
import { type FleetType, type FleetValue, type Health, POINTS } from './query.ts';

/** Rounds over which a sparkline is drawn through for an instance without a known rate. */
const USUAL_HOLD = 5;
/** Milliseconds without a change after which ages are reckoned anew. */
const STALE_MS = 1500;

/** A member of a fleet as its last row says. */
export interface Member {
  readonly id: number;
  readonly node: string;
  readonly instance: string;
  readonly type: string;
  readonly schema: string;
  /** With those of its node. */
  labels: Labels;
  state: string;
  hertz: number | null;
  /** When the newest batch arrived, milliseconds by the DAC's clock; undefined before the first. */
  arrived: number | undefined;
  received: number;
  explained: number;
  unexplained: number;
  alarms: readonly number[];
  values: FleetValue[];
  /** A ring of {@link POINTS} values for each metric. */
  readonly ring: Float64Array;
  /** The round that wrote to the ring last. */
  written: number;
}

const NO_ALARMS: readonly number[] = [0, 0, 0, 0];

/** A fleet as the messages of the DAC describe it (docs/reference/websocket.md, "Fleets"). */
export class FleetBook {
  readonly members = new Map<number, Member>();
  /** Counts what the panels may show anew. */
  version = 0;
  round = 0;
  /** Rounds that came combined with later ones. */
  combined = 0;
  /** Whether the first picture is complete. */
  isComplete = false;
  /** Whether the picture is that of a former connection. */
  private isLost = false;
  /** The DAC's clock at the last message, and the page's, milliseconds. */
  private dacTime = 0;
  private receivedAt = 0;
  private touchedAt = 0;

  constructor(private readonly metrics: number) {}

  /** Applies a message `fleet_rows`. */
  apply(message: Fields, now: number): void {
    const [from, round] = [number(message.from), number(message.round)];
    if (message.reset === true) this.members.clear();
    this.isLost = false;
    if (from > 0 && round > this.round) this.combined += round - from - 1;
    this.round = round;
    this.dacTime = number(message.dac_time) / 1e6;
    this.receivedAt = now;
    for (const gone of valuesOf(message.removed)) this.members.delete(number(gone));
    const types = listOf(message.types);
    for (const entry of valuesOf(message.members)) this.add(valuesOf(entry), types);
    for (const row of valuesOf(message.rows)) this.update(valuesOf(row));
    if (message.more === true) return;
    this.isComplete = true;
    this.touch(now);
  }

  /** Lets ages grow while nothing arrives. */
  tick(now: number): void {
    if (this.isComplete && now - this.touchedAt > STALE_MS) this.touch(now);
  }

  disconnected(): void {
    this.isComplete = false;
    this.isLost = true;
    this.version++;
  }

  /** Milliseconds since the newest batch of a member arrived. */
  ageOf(member: Member, now: number): number | undefined {
    if (member.arrived === undefined) return undefined;
    return Math.max(0, this.dacTime + now - this.receivedAt - member.arrived);
  }

  healthOf(member: Member, now: number): Health {
    if (this.isLost) return 'lost';
    if (member.state === 'offline') return 'offline';
    if (member.state === 'disabled') return 'disabled';
    const age = this.ageOf(member, now);
    if (age === undefined) return 'empty';
    // As the cards of instances do: a probe of unknown rate may be silent.
    return member.hertz !== null && age > 2500 / member.hertz + 1000 ? 'stopped' : 'live';
  }

  /** Returns the types of the members, most common first. */
  types(): FleetType[] {
    const found = new Map<string, FleetType & { count: number }>();
    for (const { type, schema } of this.members.values()) {
      const known = found.get(schema);
      if (known) known.count++;
      else found.set(schema, { name: type, version: '', schema, count: 1 });
    }
    return [...found.values()].sort((one, other) => other.count - one.count);
  }

  /**
   * Writes the points of a metric, oldest first. Between two samples that are not further apart than the rate explains, the line goes
   * on; where samples are missing or have ended there are none.
   */
  points(member: Member, metric: number, period: number, out: Float64Array, at: number): void {
    const hold = member.hertz === null ? USUAL_HOLD : Math.max(1, Math.ceil(2.5 / (member.hertz * period)));
    let [last, lastAt] = [Number.NaN, -1];
    for (let point = 0; point < POINTS; point++) {
      const round = this.round - POINTS + 1 + point;
      const isHere = round > member.written - POINTS && round <= member.written && round > 0;
      const value = isHere ? member.ring[metric * POINTS + (round % POINTS)] : Number.NaN;
      out[at + point] = value;
      if (Number.isNaN(value)) continue;
      if (lastAt >= 0 && point - lastAt <= hold) out.fill(last, at + lastAt + 1, at + point);
      [last, lastAt] = [value, point];
    }
  }

  private touch(now: number): void {
    this.touchedAt = now;
    this.version++;
  }

  private add(entry: readonly unknown[], types: readonly Fields[]): void {
    const [id, node, instance, index, found] = entry;
    const labels = parseLabels(found);
    const known = this.members.get(number(id));
    if (known) {
      known.labels = labels;
      return;
    }
    const type = types[number(index)] ?? {};
    this.members.set(number(id), {
      id: number(id),
      node: text(node),
      instance: text(instance),
      type: text(type.type),
      schema: text(type.schema),
      labels,
      state: 'offline',
      hertz: null,
      arrived: undefined,
      received: 0,
      explained: 0,
      unexplained: 0,
      alarms: NO_ALARMS,
      values: [],
      ring: new Float64Array(this.metrics * POINTS).fill(Number.NaN),
      written: this.round,
    });
  }

  private update(row: readonly unknown[]): void {
    const member = this.members.get(number(row[0]));
    if (!member) return;
    const [, state, hertz, age, received, explained, unexplained, alarms, ...values] = row;
    const hasNew = member.received !== received;
    member.state = text(state);
    member.hertz = typeof hertz === 'number' ? hertz : null;
    member.arrived = typeof age === 'number' ? this.dacTime - age : undefined;
    member.received = number(received);
    member.explained = number(explained);
    member.unexplained = number(unexplained);
    member.alarms = Array.isArray(alarms) ? alarms.map(number) : NO_ALARMS;
    member.values = values.slice(0, this.metrics).map(parseValue);
    if (hasNew) this.write(member);
  }

  /** Writes the newest values to the ring of a member, and no value for the rounds between. */
  private write(member: Member): void {
    const from = Math.max(member.written + 1, this.round - POINTS + 1);
    for (let metric = 0; metric < this.metrics; metric++) {
      const start = metric * POINTS;
      for (let round = from; round < this.round; round++) member.ring[start + (round % POINTS)] = Number.NaN;
      member.ring[start + (this.round % POINTS)] = numeric(member.values[metric] ?? null);
    }
    member.written = this.round;
  }
}

/** The number that a value is drawn as. */
export function numeric(value: FleetValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return Number.NaN;
}

/** A real that is no number comes as a word. */
function parseValue(value: unknown): FleetValue {
  if (value === 'NaN') return Number.NaN;
  if (value === 'Infinity') return Number.POSITIVE_INFINITY;
  if (value === '-Infinity') return Number.NEGATIVE_INFINITY;
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string' ? value : null;
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
