import { formatHertz, shortType } from '../format/name.ts';
import { unwatch, watch } from '../state/actions.ts';
import { chosenKeys } from '../state/store.ts';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import { keyOf } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { Dot } from './dot.tsx';

export function TreeNode(props: { node: NodeEntry; instances: readonly InstanceEntry[] }) {
  const { node, instances } = props;
  const isOnline = node.state === 'online';
  return (
    <li class="tree-node" data-testid="node" data-node={node.name}>
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
        {node.host} · {node.software}
      </p>
      <ul class="tree-instances">
        {instances.length === 0 && <li class="hint">{strings.tree.noInstances}</li>}
        {instances.map((entry) => (
          <TreeInstance key={entry.instance} entry={entry} />
        ))}
      </ul>
    </li>
  );
}

function TreeInstance({ entry }: { entry: InstanceEntry }) {
  const isWatched = chosenKeys.value.has(keyOf(entry));
  const words = strings.tree;
  const rate = entry.hertz === null ? words.event : words.hertz(formatHertz(entry.hertz));
  return (
    <li>
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
    </li>
  );
}
