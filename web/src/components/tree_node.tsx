import { formatHertz, shortType } from '../format/name.ts';
import { unwatch, watch } from '../state/actions.ts';
import { chosenKeys } from '../state/store.ts';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import { keyOf } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { Dot } from './dot.tsx';

const words = strings.tree;

export function TreeNodeHead({ node, count }: { node: NodeEntry; count: number }) {
  const isOnline = node.state === 'online';
  return (
    <div class="tree-node" data-testid="node" data-node={node.name}>
      <div class="tree-node-head">
        <Dot tone={isOnline ? 'good' : 'bad'} />
        <span class="tree-node-name" title={node.name} data-testid="node-name">
          {node.name}
        </span>
        <span class="tree-node-state" data-testid="node-state">
          {strings.nodeState(node.state)}
        </span>
      </div>
      <p class="tree-node-facts" title={`${node.host} · ${node.software}`}>
        {count === 0 ? words.noInstances : `${node.host} · ${node.software}`}
      </p>
    </div>
  );
}

export function TreeInstance({ entry }: { entry: InstanceEntry }) {
  const isWatched = chosenKeys.value.has(keyOf(entry));
  const rate = entry.hertz === null ? words.event : words.hertz(formatHertz(entry.hertz));
  return (
    <button
      type="button"
      class={isWatched ? 'tree-instance is-watched' : 'tree-instance'}
      aria-pressed={isWatched}
      title={`${isWatched ? words.unwatch(entry.instance) : words.watch(entry.instance)}\n${entry.type}`}
      data-testid="instance"
      data-node={entry.node}
      data-instance={entry.instance}
      onClick={() => (isWatched ? unwatch(entry) : watch({ node: entry.node, instance: entry.instance }))}
    >
      <span class="tree-check" aria-hidden="true" />
      <span class="tree-instance-name">{entry.instance}</span>
      <span class="tree-instance-rate">{entry.enabled ? rate : words.disabled}</span>
      <span class="tree-instance-type">{shortType(entry.type)}</span>
    </button>
  );
}
