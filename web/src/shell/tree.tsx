import { useSignal, useSignalEffect } from '@preact/signals';
import { openFleet } from '../state/fleet.ts';
import { readSchemas } from '../state/schemas.ts';
import { chosenKeys, connection, filter, registry } from '../state/store.ts';
import { treeRows } from '../state/tree.ts';
import { strings } from '../strings/strings.ts';
import { Hint } from './hint.tsx';
import { TreeList } from './tree_list.tsx';

/** From so many nodes on, the list offers to show them as a fleet. */
const MANY_NODES = 5;

/** Nodes and their instances, to choose from. */
export function Tree() {
  // On a narrow screen the list is collapsed at first.
  const isOpen = useSignal(false);
  const words = strings.tree;
  const { nodes = [], instances = [] } = registry.value ?? {};
  return (
    <nav class={isOpen.value ? 'tree is-open' : 'tree'} aria-label={words.title}>
      <div class="tree-head">
        <h2 class="tree-title">{words.title}</h2>
        <span class="tree-count" data-testid="tree-count">
          {words.watched(chosenKeys.value.size, instances.length)}
        </span>
        <button
          type="button"
          class="button tree-toggle"
          aria-expanded={isOpen.value}
          aria-controls="tree-body"
          data-testid="tree-toggle"
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          {isOpen.value ? words.hide : words.show}
        </button>
      </div>
      <div class="tree-body" id="tree-body">
        <div class="tree-tools">
          <FilterBox />
          {nodes.length >= MANY_NODES && <FleetButton nodes={nodes.length} />}
        </div>
        {treeRows.value.length > 0 ? <TreeList /> : <Empty hasNodes={nodes.length > 0} />}
        <Hint />
      </div>
    </nav>
  );
}

function FilterBox() {
  // The filter finds metrics, too.
  useSignalEffect(() => {
    if (filter.value.trim() !== '') void readSchemas(registry.value?.instances ?? []);
  });
  return (
    <input
      class="input tree-filter"
      type="search"
      title={strings.tree.filter}
      placeholder={strings.tree.filterShort}
      aria-label={strings.tree.filter}
      data-testid="filter"
      value={filter.value}
      onInput={(event) => {
        filter.value = event.currentTarget.value;
      }}
    />
  );
}

function FleetButton({ nodes }: { nodes: number }) {
  const words = strings.tree;
  return (
    <button
      type="button"
      class="button"
      title={words.fleetTip(nodes)}
      data-testid="open-fleet"
      onClick={openFleet}
    >
      {words.fleet}
    </button>
  );
}

function Empty({ hasNodes }: { hasNodes: boolean }) {
  const words = strings.tree;
  if (hasNodes) return <p class="hint">{words.noMatch}</p>;
  if (connection.value.phase !== 'connected' && !registry.value)
    return <p class="hint">{words.connecting}</p>;
  return (
    <div class="hint" data-testid="no-nodes">
      <p>{words.nothing}</p>
      <p>{words.nothingHint}</p>
      <code>{words.nothingCommand}</code>
    </div>
  );
}
