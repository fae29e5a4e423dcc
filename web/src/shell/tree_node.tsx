import { useComputed } from '@preact/signals';
import { Dot, type Tone } from '../components/dot.tsx';
import { NameText } from '../components/name_text.tsx';
import { formatHertz, shortType } from '../format/name.ts';
import { formatShare } from '../format/number.ts';
import { formatRoughAge } from '../format/time.ts';
import { drag } from '../panels/shared/dragged.ts';
import { unwatch, watch } from '../state/actions.ts';
import { awayFor } from '../state/away.ts';
import { cardState } from '../state/freshness.ts';
import { isViewOnly } from '../state/mode.ts';
import { cellsOf, chosenKeys, isConnected, nodeOf } from '../state/store.ts';
import {
  type Hop,
  type InstanceEntry,
  isRateUnknown,
  type NodeEntry,
  type OverheadEntry,
} from '../stream/protocol.ts';
import { strings } from '../strings/strings.ts';
import { keyOf } from '../wire/target.ts';

const words = strings.tree;
const states = strings.card.state;

export function TreeNodeHead({ node, count }: { node: NodeEntry; count: number }) {
  const isOnline = node.state === 'online';
  const { tone, word } = nodeState(node);
  // Unknown for an imported node.
  const about = [node.host, node.software].filter(Boolean).join(' · ') || words.unknown;
  return (
    <div class="tree-node" data-testid="node" data-node={node.name}>
      <div class="tree-node-head">
        <Dot tone={tone} />
        <span class="tree-node-name" title={node.name} data-testid="node-name">
          <NameText name={node.name} />
        </span>
        <span class="tree-node-state" data-testid="node-state">
          {word}
        </span>
      </div>
      <p class="tree-node-facts" title={about}>
        {isOnline || !isConnected.value ? '' : `${words.heard(formatRoughAge(awayFor(node)))} · `}
        {count === 0 ? words.noInstances : about}
        {node.path.length > 0 && <Path path={node.path} />}
        {node.overhead && isOnline && <Overhead overhead={node.overhead} />}
      </p>
    </div>
  );
}

/** Without a connection nobody knows whether the nodes are still there. */
function nodeState({ state, replay }: NodeEntry): { readonly tone: Tone; readonly word: string } {
  if (!isConnected.value) return { tone: 'idle', word: states.lost };
  if (state !== 'online') return { tone: 'bad', word: states.offline };
  return replay ? { tone: 'idle', word: states.replay } : { tone: 'good', word: words.online };
}

/** The DACs between the node and this one. */
function Path({ path }: { path: readonly Hop[] }) {
  const hops = path.map(({ dac, clock_offset_ns: offset, round_trip_ns: trip }) =>
    words.hop(dac, offset === null || trip === null ? undefined : [offset / 1e6, trip / 1e6]),
  );
  return (
    <span title={hops.join('\n')} data-testid="node-path">
      {` · ${words.path(path.map(({ dac }) => dac))}`}
    </span>
  );
}

function Overhead({ overhead }: { overhead: OverheadEntry }) {
  const budget = overhead.budget === null ? undefined : formatShare(overhead.budget);
  const isOver = overhead.budget !== null && overhead.cpu > overhead.budget;
  return (
    <span
      class={isOver ? 'tree-overhead is-over' : 'tree-overhead'}
      title={words.overheadTip(formatShare(overhead.callbacks), budget)}
      data-testid="node-overhead"
    >
      {` · ${words.overhead(formatShare(overhead.cpu))}`}
    </span>
  );
}

/** The state of an instance that takes no samples; else its rate, and the requested rate if its node has lowered it. */
function Rate({ entry, isWatched }: { entry: InstanceEntry; isWatched: boolean }) {
  const lowered = nodeOf(entry.node)?.overhead?.lowered[entry.instance];
  // For the others, the list does not know when they took their samples.
  const isStopped = useComputed(() => isWatched && cardState(cellsOf(entry)) === 'stopped').value;
  const state = entry.state !== 'online' ? 'offline' : !entry.enabled ? 'disabled' : isStopped && 'stopped';
  if (!isConnected.value) return null;
  if (state) return <span class="tree-instance-rate">{states[state]}</span>;
  if (entry.hertz === null) {
    const how = isRateUnknown(entry) ? words.unknownRate : words.event;
    return <span class="tree-instance-rate">{how}</span>;
  }
  const wanted = formatHertz(entry.hertz);
  if (lowered === undefined) return <span class="tree-instance-rate">{words.hertz(wanted)}</span>;
  return (
    <span class="tree-instance-rate is-slowed" title={words.slowedTip} data-testid="instance-slowed">
      {words.slowed(formatHertz(lowered), wanted)}
    </span>
  );
}

/** `metric`: the one that the filter has found. */
export function TreeInstance({ entry, metric }: { entry: InstanceEntry; metric: string | undefined }) {
  const isWatched = chosenKeys.value.has(keyOf(entry));
  return (
    <button
      type="button"
      class={isWatched ? 'tree-instance is-watched' : 'tree-instance'}
      aria-pressed={isWatched}
      title={`${isWatched ? words.unwatch(entry.instance) : words.watch(entry.instance)}\n${entry.type}`}
      data-testid="instance"
      data-node={entry.node}
      data-instance={entry.instance}
      draggable={!isViewOnly}
      onDragStart={(event) => drag(event, entry, metric)}
      onClick={() => (isWatched ? unwatch(entry) : watch({ node: entry.node, instance: entry.instance }))}
    >
      <span class="tree-check" aria-hidden="true" />
      <span class="tree-instance-name">
        <NameText name={entry.instance} />
      </span>
      <Rate key={String(isWatched)} entry={entry} isWatched={isWatched} />
      <span class="tree-instance-type">
        {[metric, shortType(entry.type)].filter(Boolean).join(' \u00b7 ')}
      </span>
    </button>
  );
}
