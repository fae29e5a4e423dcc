import { enumeratorOf, isStruct, isVector, type Metric, type Value } from '@oasis/wire';
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { CompoundValue } from '../../components/compound_value.tsx';
import { causeOf } from '../../components/gap_words.ts';
import { MomentNote } from '../../components/moment_note.tsx';
import { RateNote, ScalarValue } from '../../components/scalar_value.tsx';
import { useRoom } from '../../components/use_room.ts';
import type { ShownSample } from '../../components/use_shown.ts';
import { useView } from '../../components/use_view.ts';
import { fitNumber } from '../../format/fit.ts';
import { formatScalar } from '../../format/number.ts';
import { formatUnit } from '../../format/unit.ts';
import { isLine, isNumber } from '../../series/metrics.ts';
import { copyText } from '../../state/copy.ts';
import { isViewOnly } from '../../state/mode.ts';
import type { InstanceCells } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import type { PerSecond } from '../../stream/counters.ts';
import type { Extents } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import type { Target } from '../../wire/target.ts';
import { drag } from '../shared/dragged.ts';

const words = strings.card;
/** Size of the letters at the side, in rem. */
const SIDE_FONT_REM = 0.8571;

/** Number of digits that fit into the columns. */
interface Room {
  readonly value: ReadonlySignal<number>;
  readonly side: ReadonlySignal<number>;
}

/** A sample with a row for each metric, from the schema of the subscription. */
export function MetricTable(props: {
  target: Target;
  cells: InstanceCells;
  shown: ReadonlySignal<ShownSample>;
}) {
  const { cells } = props;
  const schema = cells.status.value?.schema;
  if (!schema) return <div class="metrics-empty">{cells.status.value?.problem ?? words.noSample}</div>;
  if (schema.metrics.length === 0) return <div class="metrics-empty">{words.noMetrics}</div>;
  return <Table {...props} metrics={schema.metrics} />;
}

function Table(props: {
  target: Target;
  cells: InstanceCells;
  shown: ReadonlySignal<ShownSample>;
  metrics: readonly Metric[];
}) {
  const { target, cells, shown, metrics } = props;
  const extents = useSignal<Extents>({});
  useView(
    () => ({ kind: 'extent', range: range.value, target }),
    ({ answer }) => {
      if (answer.kind === 'extent') extents.value = answer.extents;
    },
  );
  const [valueHead, sideHead] = [useRef<HTMLTableCellElement>(null), useRef<HTMLTableCellElement>(null)];
  const room = { value: useRoom(valueHead, 1), side: useRoom(sideHead, SIDE_FONT_REM) };
  return (
    <div class="metrics-scroll">
      <Moment shown={shown} cells={cells} />
      <table class="metrics" data-testid="metrics">
        <thead>
          <tr>
            <th scope="col">{words.metric}</th>
            <th scope="col" class="num" ref={valueHead}>
              {words.value}
            </th>
            <th scope="col">{words.unit}</th>
            <th scope="col" class="extent num" title={words.extentTip}>
              {words.least}
            </th>
            <th scope="col" class="extent num" title={words.extentTip}>
              {words.greatest}
            </th>
            <th scope="col" class="num" ref={sideHead}>
              {metrics.some(isCounting) ? words.perSecond : words.aboutColumn}
            </th>
          </tr>
        </thead>
        <Rows target={target} metrics={metrics} shown={shown} extents={extents.value} room={room} />
      </table>
    </div>
  );
}

/** Separate from the table, for the same reason as its rows. */
function Moment({ shown, cells }: { shown: ReadonlySignal<ShownSample>; cells: InstanceCells }) {
  return <MomentNote shown={shown.value} cells={cells} />;
}

function isCounting(metric: Metric): boolean {
  return metric.kind === 'counter';
}

/** Shown in a gap. */
const UNKNOWN = '\u2013';

/** Separate from the head, so that a sample redraws only this. */
function Rows(props: {
  target: Target;
  metrics: readonly Metric[];
  shown: ReadonlySignal<ShownSample>;
  extents: Extents;
  room: Room;
}) {
  const { target, metrics, shown, extents, room } = props;
  const { sample, gap, at } = shown.value;
  // There is no value in a gap. While it lasts, there is the last one, until another one comes.
  const isUnknown = gap !== undefined && at !== undefined && !gap.isLasting;
  return (
    <tbody
      class={gap ? 'is-old' : ''}
      title={gap && causeOf(gap)}
      data-testid="metric-values"
      data-gap={gap?.cause}
    >
      {metrics.map((metric, index) => (
        <Row
          key={metric.name}
          target={target}
          metric={metric}
          value={isUnknown ? UNKNOWN : sample?.values[index]}
          rate={gap ? undefined : sample?.rates[index]}
          extent={extents[metric.name]}
          room={room}
        />
      ))}
    </tbody>
  );
}

function Row(props: {
  target: Target;
  metric: Metric;
  value: Value | undefined;
  rate: PerSecond;
  extent: readonly [number, number] | undefined;
  room: Room;
}) {
  const { target, metric, value, rate, extent, room } = props;
  const isCompound = isVector(metric.type) || isStruct(metric.type);
  if (isVector(metric.type) && isStruct(metric.type.vector)) return <TableRow {...props} />;
  return (
    <tr data-testid="metric" data-metric={metric.name}>
      <th scope="row" title={metric.doc ?? metric.name}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the command palette adds metrics by keys */}
        <span
          class="metric-name"
          draggable={!isViewOnly && isNumber(metric)}
          onDragStart={(event) => drag(event, target, metric.name)}
        >
          {metric.label ?? metric.name}
        </span>
      </th>
      {isCompound ? (
        <td class="compound" colSpan={5} data-testid="value">
          {value !== undefined && (
            <CompoundValue type={metric.type} value={value} rate={rate} meaning={metric} />
          )}
        </td>
      ) : (
        <>
          <td
            class={metric.type === 'string' ? 'value value-text' : 'value'}
            title={value === undefined ? words.copyTip : `${written(metric, value)}\n${words.copyTip}`}
            data-testid="value"
            onContextMenu={(event) => {
              event.preventDefault();
              if (value !== undefined) void copyText(String(value));
            }}
          >
            {value !== undefined && (
              <ScalarValue type={metric.type} value={value} meaning={metric} room={room.value.value} />
            )}
          </td>
          <td class="unit">{formatUnit(metric.unit)}</td>
          <ExtentCell metric={metric} value={extent?.[0]} room={room.side.value} />
          <ExtentCell metric={metric} value={extent?.[1]} room={room.side.value} />
          <td class="note" data-testid="per-second">
            <RateNote metric={metric} value={value} rate={rate} room={room.side.value} />
          </td>
        </>
      )}
    </tr>
  );
}

/** A table within a row has the whole width, below its name. */
function TableRow({ metric, value, rate }: { metric: Metric; value: Value | undefined; rate: PerSecond }) {
  return (
    <tr data-testid="metric" data-metric={metric.name}>
      <td class="compound" colSpan={6}>
        <span class="metric-name" title={metric.doc ?? metric.name}>
          {metric.label ?? metric.name}
        </span>
        <div data-testid="value">
          {value !== undefined && (
            <CompoundValue type={metric.type} value={value} rate={rate} meaning={metric} />
          )}
        </div>
      </td>
    </tr>
  );
}

/** A counter only rises: its minimum and maximum say nothing. */
function ExtentCell(props: { metric: Metric; value: number | undefined; room: number }) {
  const { metric, value, room } = props;
  if (value === undefined || Number.isNaN(value) || !isLine(metric) || metric.kind === 'counter')
    return <td class="extent num" />;
  const full = formatScalar(value, metric.type);
  return (
    <td class="extent num" title={full}>
      {fitNumber(value, full, room)}
    </td>
  );
}

/** The value with all digits. */
function written(metric: Metric, value: Value): string {
  return enumeratorOf(metric.enum, value)?.name ?? formatScalar(value, metric.type);
}
