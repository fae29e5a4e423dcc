import { isStruct, isVector, type Meaning, type Metric, type MetricType, type Value } from '@oasis/wire';
import { useRef } from 'preact/hooks';
import { formatScalar } from '../format/number.ts';
import { formatUnit } from '../format/unit.ts';
import type { PerSecond } from '../stream/counters.ts';
import { strings } from '../strings/strings.ts';
import { RateNote, ScalarValue } from './scalar_value.tsx';
import { useRoom } from './use_room.ts';

/** Most elements shown; the count of the others follows. */
const MAX_ELEMENTS = 64;
/** Size of the letters of a table, in rem, and the distance of its columns in digits. Rates have smaller letters. */
const TABLE_FONT_REM = 0.8571;
const GAP = 1.5;
/** Digits of a column in any case: a table of many columns scrolls. */
const FEWEST = 6;

interface Props {
  readonly type: MetricType;
  readonly value: Value;
  readonly rate: PerSecond;
  /** Also applies to numbers in vectors. */
  readonly meaning: Meaning;
}

/** A vector or a struct: lists of plain values in a line, lists of structs as a table, a struct as names and values. */
export function CompoundValue({ type, value, rate, meaning }: Props) {
  if (typeof type === 'string' || !Array.isArray(value))
    return <ScalarValue type={type} value={value} meaning={meaning} />;
  if (isStruct(type))
    return <StructValue members={type.struct.members} values={value} rates={ratesOf(rate)} />;
  if (!isVector(type)) return null;
  if (value.length === 0) return <span class="nothing">{strings.card.none}</span>;
  const element = type.vector;
  return isStruct(element) ? (
    <StructTable members={element.struct.members} values={value} rates={ratesOf(rate)} />
  ) : (
    <PlainList type={element} values={value} rates={ratesOf(rate)} meaning={meaning} />
  );
}

function PlainList(props: {
  type: MetricType;
  values: readonly Value[];
  rates: readonly PerSecond[];
  meaning: Meaning;
}) {
  const { type, values, rates, meaning } = props;
  return (
    <ol class="plain-list">
      {values.slice(0, MAX_ELEMENTS).map((value, index) => (
        <li key={index}>
          <CompoundValue type={type} value={value} rate={rates[index]} meaning={meaning} />
        </li>
      ))}
      <More count={values.length - MAX_ELEMENTS} />
    </ol>
  );
}

function StructTable(props: {
  members: readonly Metric[];
  values: readonly Value[];
  rates: readonly PerSecond[];
}) {
  const { members, values, rates } = props;
  const place = useRef<HTMLDivElement>(null);
  const room = Math.max(FEWEST, useRoom(place, TABLE_FONT_REM).value / members.length - GAP);
  return (
    <div ref={place}>
      <table class="nested">
        <thead>
          <tr>
            {members.map((member) => (
              <th key={member.name} scope="col" class={alignment(member)} title={member.doc ?? member.name}>
                {member.label ?? member.name} <span class="unit">{formatUnit(member.unit)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {values.slice(0, MAX_ELEMENTS).map((value, row) => (
            <tr key={row}>
              {members.map((member, column) => (
                <td key={member.name} class={alignment(member)}>
                  <MemberValue
                    member={member}
                    value={at(value, column)}
                    rate={ratesOf(rates[row])[column]}
                    room={room}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <More count={values.length - MAX_ELEMENTS} />
    </div>
  );
}

function StructValue(props: {
  members: readonly Metric[];
  values: readonly Value[];
  rates: readonly PerSecond[];
}) {
  return (
    <dl class="struct">
      {props.members.map((member, index) => (
        <div key={member.name} title={member.doc ?? member.name}>
          <dt>{member.label ?? member.name}</dt>
          <dd>
            <MemberValue member={member} value={props.values[index]} rate={props.rates[index]} />{' '}
            <span class="unit">{formatUnit(member.unit)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function MemberValue(props: {
  member: Metric;
  value: Value | undefined;
  rate: PerSecond;
  /** Most digits. */
  room?: number;
}) {
  const { member, value, rate, room = Number.POSITIVE_INFINITY } = props;
  if (value === undefined) return null;
  if (typeof member.type === 'object')
    return <CompoundValue type={member.type} value={value} rate={rate} meaning={member} />;
  return (
    <span title={formatScalar(value, member.type)}>
      <ScalarValue type={member.type} value={value} meaning={member} room={room} />
      {typeof rate === 'number' && (
        <span class="nested-rate">
          <RateNote metric={member} value={value} rate={rate} room={room + GAP} />
        </span>
      )}
    </span>
  );
}

function More({ count }: { count: number }) {
  return count > 0 ? <span class="nothing">{strings.card.more(count)}</span> : null;
}

function alignment(member: Metric): string {
  return typeof member.type === 'string' && member.type !== 'string' ? 'num' : '';
}

function at(value: Value, index: number): Value | undefined {
  return Array.isArray(value) ? value[index] : undefined;
}

function ratesOf(rate: PerSecond): readonly PerSecond[] {
  return typeof rate === 'object' ? rate : [];
}
