import { canUndo, undo } from '../dashboards/changes.ts';
import { kept } from '../dashboards/kept.ts';
import { addressOf, chooseNode, saveOpen } from '../dashboards/open.ts';
import { instancesWanted, matchingNodes } from '../dashboards/template.ts';
import { dashboard, isChanged } from '../state/dashboard.ts';
import { isViewOnly } from '../state/mode.ts';
import { notify } from '../state/notice.ts';
import { nodeOf, registry } from '../state/registry.ts';
import { strings } from '../strings/strings.ts';
import '../styles/dashboards.css';

const words = strings.layouts;

/** The dashboard that the page shows, and what can be done with its changes. */
export function DashboardBar() {
  const shown = dashboard.value;
  if (!shown) return null;
  return (
    <section class="dashboard-bar" aria-label={words.bar}>
      <strong class="dashboard-name" title={shown.name} data-testid="dashboard-name">
        {shown.name}
      </strong>
      {shown.node !== undefined && <NodeChoice node={shown.node} />}
      {isChanged.value && (
        <span class="dashboard-changed" data-testid="dashboard-changed">
          {words.changed}
        </span>
      )}
      {!isViewOnly && isChanged.value && (
        <button
          type="button"
          class="button button-main"
          title={words.saveTip}
          data-testid="dashboard-save"
          onClick={() => void saveOpen().catch((error: unknown) => notify(String(error)))}
        >
          {words.save}
        </button>
      )}
      {!isViewOnly && canUndo.value && (
        <button type="button" class="button" data-testid="dashboard-undo" onClick={undo}>
          {words.undo}
        </button>
      )}
      {!isViewOnly && (
        <a
          class="dashboard-leave"
          href={addressOf(undefined)}
          title={words.leave}
          aria-label={words.leave}
          data-testid="dashboard-leave"
        >
          {'\u00d7'}
        </a>
      )}
    </section>
  );
}

/** The nodes that have the instances of the dashboard. */
function NodeChoice({ node }: { node: string }) {
  const found = matchingNodes(registry.value?.instances ?? [], instancesWanted(kept.value));
  const nodes = found.includes(node) ? found : [node, ...found];
  return (
    <select
      class="input dashboard-node"
      aria-label={words.node}
      data-testid="dashboard-node"
      value={node}
      onChange={(event) => chooseNode(event.currentTarget.value)}
    >
      {nodes.map((name) => (
        <option key={name} value={name}>
          {name === node && registry.value && !nodeOf(name) ? words.unknownNode(name) : name}
        </option>
      ))}
    </select>
  );
}
