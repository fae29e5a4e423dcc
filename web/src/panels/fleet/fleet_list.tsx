import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useSame, useSameValue } from '../../components/use_same.ts';
import { useSize } from '../../components/use_size.ts';
import { useView } from '../../components/use_view.ts';
import type {
  FleetAnswer,
  FleetLook,
  FleetMetricColumn,
  FleetRow,
  FleetSelection,
} from '../../fleet/query.ts';
import type { FleetSettings } from '../../fleet/settings.ts';
import { hideView, showView, watch } from '../../state/actions.ts';
import { activeDock } from '../../state/active_dock.ts';
import { notify } from '../../state/notice.ts';
import { panels } from '../../state/panels.ts';
import type { Query } from '../../stream/query.ts';
import { keyOf } from '../../wire/target.ts';
import { compare, MAX_COMPARED, whyNotCompared } from './fleet_compare.ts';
import { FleetHead } from './fleet_head.tsx';
import { FleetLines } from './fleet_lines.tsx';
import type { ShownMetric } from './fleet_metrics.ts';
import { type Grid, gridOf, partOf } from './fleet_places.ts';
import { fleetStrings as words } from './strings.ts';
import { useFleetSparks } from './use_fleet_sparks.ts';

interface Props {
  readonly spec: FleetSettings & { readonly id: string };
  readonly selection: FleetSelection;
  readonly metrics: readonly ShownMetric[];
  readonly columns: readonly FleetMetricColumn[];
  readonly words: readonly string[];
  readonly answer: Signal<FleetAnswer | undefined>;
  readonly onChange: (change: Partial<FleetSettings>) => void;
  readonly onSearch: (text: string) => void;
}

/** A fleet shows the present, whatever the other panels show. */
const NOW = { live: true, span: 60_000 } as const;
/** Rows that are looked through for the first ones that have a metric. */
const LOOKED = 200;

/** The list: only what is visible is asked for and drawn. */
export function FleetList(props: Props) {
  const { spec, selection, metrics, answer } = props;
  const list = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal<readonly [number, number]>([800, 600]);
  const top = useSignal(0);
  const cursor = useSignal(0);
  const folded = useSignal<readonly string[]>([]);
  const chosen = useSignal<ReadonlyMap<string, FleetRow>>(new Map());
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 14;
  const { shape } = spec;
  const width = size.value[0];
  const grid = useMemo(() => gridOf(shape, width / rem, rem), [shape, width, rem]);
  const look: Omit<FleetLook, 'first' | 'count'> = {
    rows: shape === 'nodes' ? 'nodes' : 'instances',
    order: spec.order,
    group: spec.group,
    folded: folded.value,
    words: props.words,
    metrics: props.columns,
  };
  // An equal query is not asked again. Scrolling changes it, and draws nothing by itself.
  const asked = useSignal<
    { selection: FleetSelection; look: Omit<FleetLook, 'first' | 'count'> } | undefined
  >(undefined);
  const places = useRef(grid);
  const question = useSameValue({ selection, look, shape });
  useLayoutEffect(() => {
    places.current = grid;
    asked.value = question;
  }, [asked, question, grid]);
  const wanted = useSame((): Query | undefined => {
    if (!asked.value) return undefined;
    const { selection: of, look: at } = asked.value;
    const part = partOf(places.current, top.value, size.value[1]);
    return { kind: 'fleet', range: NOW, selection: of, look: { ...at, ...part } };
  });
  useFleetSparks(list, canvas, answer.value, metrics.length, grid, width);
  useView(
    () => wanted.value,
    ({ answer: found }) => {
      if (found.kind === 'fleet') answer.value = found;
    },
  );
  const resize = useCallback(
    (width: number, height: number) => {
      size.value = [width, height];
    },
    [size],
  );
  useSize(list, resize);

  const lineAt = (index: number) => answer.value?.lines[index - (answer.value?.first ?? 0)];
  const choose = (row: FleetRow) => {
    const key = keyOfRow(row);
    const next = new Map(chosen.value);
    if (!next.delete(key)) next.set(key, row);
    chosen.value = next;
  };
  const open = (index: number) => {
    const line = lineAt(index);
    if (line?.kind === 'group') folded.value = toggled(folded.value, line.name);
    else if (line) openRow(line, props);
  };
  const whyNot = (place: number) =>
    (answer.value?.members ? undefined : stateOf(answer.value)) ??
    whyNotCompared(metrics[place], place, [...chosen.value.values()], shape);
  const compareRows = (place: number) => {
    const metric = metrics[place];
    const reason = metric ? whyNot(place) : words.noMetricChosen;
    if (!metric || reason !== undefined) {
      notify(reason ?? '');
      return;
    }
    if (chosen.value.size > 0) compare([...chosen.value.values()], place, metric);
    else firstRows(selection, look, place, (rows) => compare(rows, place, metric));
  };
  const move = (index: number) => {
    const last = (answer.value?.length ?? 1) - 1;
    cursor.value = Math.max(0, Math.min(last, index));
    reveal(list.current, grid, cursor.value);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(size.value[1] / grid.height) - 1) * grid.perRow;
    const steps: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(cursor.value + grid.perRow),
      ArrowUp: () => move(cursor.value - grid.perRow),
      ...(grid.perRow > 1 && {
        ArrowRight: () => move(cursor.value + 1),
        ArrowLeft: () => move(cursor.value - 1),
      }),
      PageDown: () => move(cursor.value + page),
      PageUp: () => move(cursor.value - page),
      Home: () => move(0),
      End: () => move((answer.value?.length ?? 1) - 1),
      Enter: () => open(cursor.value),
      ' ': () => {
        const line = lineAt(cursor.value);
        if (line?.kind === 'row') choose(line);
        else open(cursor.value);
      },
      c: () => compareRows(0),
      ...(chosen.value.size > 0 && {
        Escape: () => {
          chosen.value = new Map();
        },
      }),
    };
    const step = event.ctrlKey || event.metaKey || event.altKey ? undefined : steps[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    step();
  };

  return (
    <>
      {chosen.value.size > 0 && <Chosen chosen={chosen} />}
      <div class={`fleet-table is-${grid.layout}`} style={{ '--metrics': metrics.length }}>
        <FleetHead
          spec={spec}
          metrics={metrics}
          isTiles={spec.shape === 'tiles'}
          which={chosen.value.size > 0 ? words.theChosen : words.theFirst(MAX_COMPARED)}
          whyNot={whyNot}
          onSort={(order) => props.onChange({ order })}
          onCompare={compareRows}
        />
        <div class="fleet-body">
          <div
            ref={list}
            class="fleet-list"
            role="listbox"
            aria-label={words.list}
            aria-multiselectable={true}
            aria-activedescendant={lineAt(cursor.value) && `fleet-${spec.id}-${cursor.value}`}
            tabIndex={0}
            data-testid="fleet-list"
            onScroll={(event) => {
              top.value = stepped(event.currentTarget.scrollTop, grid);
            }}
            onKeyDown={onKeyDown}
            onClick={(event) => {
              const target = event.target instanceof Element ? event.target : undefined;
              const found = target?.closest<HTMLElement>('[data-index]');
              if (!found) return;
              const index = Number(found.dataset.index);
              cursor.value = index;
              const line = lineAt(index);
              const isCheck = event.ctrlKey || event.shiftKey || target?.closest('[data-part=check]');
              if (line?.kind === 'row' && isCheck) choose(line);
              else open(index);
            }}
          >
            <FleetLines
              id={spec.id}
              answer={answer.value}
              metrics={metrics}
              grid={grid}
              cursor={cursor.value}
              isChosen={(row) => chosen.value.has(keyOfRow(row))}
              canvas={canvas}
            />
          </div>
          <State answer={answer.value} />
        </div>
      </div>
    </>
  );
}

/** Why there is nothing to see. */
function State({ answer }: { answer: FleetAnswer | undefined }) {
  const text = stateOf(answer);
  return text === undefined ? null : (
    <p class="panel-empty fleet-state" role="status" data-testid="fleet-state">
      {text}
    </p>
  );
}

function stateOf(answer: FleetAnswer | undefined): string | undefined {
  if (answer?.status.state === 'unsupported') return words.unsupported;
  if (answer?.status.state === 'refused') return words.refused(answer.status.problem);
  // Entries from before the connection was lost stay.
  if (answer && answer.length > 0) return undefined;
  if (!answer || answer.status.state === 'waiting') return words.waiting;
  return answer.members === 0 ? words.empty : words.noMatch;
}

function Chosen({ chosen }: { chosen: Signal<ReadonlyMap<string, FleetRow>> }) {
  return (
    <p class="fleet-note" data-testid="fleet-chosen">
      {words.chosen(String(chosen.value.size))}
      <button
        type="button"
        class="button button-quiet fleet-compare"
        data-testid="fleet-clear"
        onClick={() => {
          chosen.value = new Map();
        }}
      >
        {words.clear}
      </button>
    </p>
  );
}

/** Opens an instance; of a node with several, their list. */
function openRow(row: FleetRow, { spec, onChange, onSearch }: Props): void {
  if (row.instance === undefined && row.count > 1) {
    onSearch(row.node);
    onChange({ shape: 'instances' });
    return;
  }
  const instance = row.instance ?? row.sources.find((source) => source !== undefined);
  if (instance === undefined) return;
  const target = { node: row.node, instance };
  watch(target);
  const found = panels
    .peek()
    .find(
      (other) => other.id !== spec.id && other.kind === 'instance' && keyOf(other.target) === keyOf(target),
    );
  if (found) activeDock()?.focus(found.id);
}

/** Asks for the first rows that have a metric. */
function firstRows(
  selection: FleetSelection,
  look: Omit<FleetLook, 'first' | 'count'>,
  place: number,
  found: (rows: FleetRow[]) => void,
): void {
  const query: Query = { kind: 'fleet', range: NOW, selection, look: { ...look, first: 0, count: LOOKED } };
  const id = showView(query, ({ answer }) => {
    hideView(id);
    if (answer.kind !== 'fleet') return;
    const rows = answer.lines.filter((line) => line.kind === 'row');
    found(rows.filter(({ sources }) => sources[place] !== undefined).slice(0, MAX_COMPARED));
  });
}

function keyOfRow({ node, instance }: FleetRow): string {
  return instance === undefined ? node : keyOf({ node, instance });
}

function toggled(names: readonly string[], name: string): string[] {
  return names.includes(name) ? names.filter((other) => other !== name) : [...names, name];
}

/** The place of scrolling in whole rows, so that a pixel asks for nothing new. */
function stepped(scrollTop: number, grid: Grid): number {
  return Math.floor(scrollTop / (grid.height * grid.step)) * grid.height * grid.step;
}

function reveal(list: HTMLElement | null, grid: Grid, index: number): void {
  if (!list) return;
  const top = Math.floor(index / grid.perRow) * grid.height;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + grid.height > list.scrollTop + list.clientHeight)
    list.scrollTop = top + grid.height - list.clientHeight;
}
