import { pageRoot } from '../api/page_root.ts';
import { parseLayout } from '../layout/document.ts';
import { applyLayout, currentLayout } from '../layout/saved.ts';
import { openDefault, watch } from '../state/actions.ts';
import { defaultChoice } from '../state/choice.ts';
import { dashboard } from '../state/dashboard.ts';
import { openFleet } from '../state/fleet.ts';
import { closeTarget, shownTargets } from '../state/panels.ts';
import { entryOf, registry } from '../state/registry.ts';
import { namesOfRuns, showRunOfAddress } from '../state/run_in_address.ts';
import { keyOfUnknown, type Unknown, unknownNames, unknownRun } from '../state/unknown.ts';
import { forgetWanted } from '../state/wanted.ts';
import { closest } from '../text/closest.ts';
import { unknownStrings as words } from './unknown_strings.ts';

/** Most names that are listed. */
const MAX_LISTED = 3;

/** Says what the DAC does not know of what the page is to show, and what somebody may have meant. */
export function UnknownNote() {
  const unknown = unknownNames.value;
  if (unknown.length === 0) return null;
  return (
    <section class="unknown-note" role="alert" aria-label={words.title} data-testid="unknown">
      {unknown.slice(0, MAX_LISTED).map((each) => (
        <p key={keyOfUnknown(each)} data-testid="unknown-name">
          <strong>{words.says(each)}</strong>
          <Suggestions of={each} />
        </p>
      ))}
      {unknown.length > MAX_LISTED && <p>{words.others(unknown.length - MAX_LISTED)}</p>}
      {dashboard.value ? (
        <a class="button" href={pageRoot().href} title={words.allTip} data-testid="unknown-all">
          {words.all}
        </a>
      ) : (
        <button
          type="button"
          class="button"
          title={words.allTip}
          data-testid="unknown-all"
          onClick={() => showAll(unknown)}
        >
          {words.all}
        </button>
      )}
    </section>
  );
}

/** Names like the unknown one: a click shows what has them. */
function Suggestions({ of }: { of: Unknown }) {
  const names = closest(of.name, namesLike(of));
  if (names.length === 0) return null;
  return (
    <>
      <span>{words.meant}</span>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          class="button"
          title={words.open(name)}
          data-testid="unknown-meant"
          onClick={() => void show(of, name)}
        >
          <bdi>{name}</bdi>
        </button>
      ))}
    </>
  );
}

function namesLike(unknown: Unknown): string[] {
  const { nodes = [], instances = [] } = registry.value ?? {};
  if (unknown.kind === 'node') return nodes.map(({ name }) => name);
  if (unknown.kind === 'run') return [...namesOfRuns.value];
  return instances
    .filter(({ node }) => unknown.node === undefined || node === unknown.node)
    .map(({ instance }) => instance);
}

/** Shows what somebody has meant in the place of what is unknown. */
async function show(unknown: Unknown, name: string): Promise<void> {
  forgetAddress();
  if (unknown.kind === 'run') {
    unknownRun.value = undefined;
    showRunOfAddress(name);
  } else if (unknown.kind === 'instance') showInstance(unknown, name);
  else if (dashboard.peek()?.node === unknown.name) (await import('../dashboards/open.ts')).chooseNode(name);
  else await showNode(unknown.name, name);
}

function showInstance({ name, node }: Unknown & { kind: 'instance' }, meant: string): void {
  if (node !== undefined) closeTarget({ node, instance: name });
  const found = registry
    .peek()
    ?.instances.find((entry) => entry.instance === meant && (node ?? entry.node) === entry.node);
  if (found) watch(found);
}

/** Puts a node in the place of another one in all panels; without such panels, opens what a first visit shows of it. */
async function showNode(unknown: string, meant: string): Promise<void> {
  const { withNode, withVariable } = await import('../dashboards/template.ts');
  const layout = parseLayout(withNode(withVariable({ ...currentLayout() }, unknown), meant));
  if (layout && layout.panels.length > 0) applyLayout(layout);
  else
    openDefault(
      defaultChoice((registry.peek()?.instances ?? []).filter(({ node }) => node === meant)).targets,
    );
}

function showAll(unknown: readonly Unknown[]): void {
  forgetAddress();
  unknownRun.value = undefined;
  const nodes = new Set(unknown.flatMap((each) => (each.kind === 'node' ? each.name : [])));
  for (const target of shownTargets.peek())
    if (nodes.has(target.node) || !entryOf(target)) closeTarget(target);
  openFleet();
}

/** What the address named is settled. */
function forgetAddress(): void {
  forgetWanted();
  const url = new URL(location.href);
  for (const name of ['node', 'instance', 'run']) url.searchParams.delete(name);
  if (!dashboard.peek()) history.replaceState(null, '', url);
}
