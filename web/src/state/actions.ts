import { pageRoot } from '../api/page_root.ts';
import { StreamClient } from '../stream/client.ts';
import type { DoorName } from '../stream/doors/door.ts';
import type { CommandRequest } from '../stream/protocol.ts';
import type { Query, ViewResult } from '../stream/query.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { awaitView, forgetView, viewAnswered } from './awaited_views.ts';
import { awaited } from './away.ts';
import { chosenDoor, storeDoor } from './door_choice.ts';
import { closeTarget, openPanels, panels, shownTargets } from './panels.ts';
import { apply, cellsOf, offView, onView } from './store.ts';

let client: StreamClient | undefined;
let lastView = 0;

/** Begins the stream of samples. */
export function connect(): StreamClient {
  client = new StreamClient(apply);
  client.start(pageRoot(), chosenDoor.peek());
  return client;
}

/** Connects through a door, now and after a reload; without one, through the best that opens. */
export function chooseDoor(door: DoorName | undefined): void {
  storeDoor(door);
  client?.choose(door);
}

/** Opens the panels of an instance. */
export function watch(target: Target): void {
  const { node, instance } = target;
  const isShown = panels
    .peek()
    .some((spec) => spec.kind === 'instance' && keyOf(spec.target) === keyOf(target));
  if (isShown) return;
  openDefault([{ node, instance }]);
  // While any instance is live, the page stays at the present.
  const isAnyThere = shownTargets.peek().some((shown) => cellsOf(shown).entry.peek()?.state === 'online');
  awaited.value = isAnyThere ? '' : keyOf(target);
}

export function unwatch(target: Target): void {
  closeTarget(target);
}

/** Opens a table, and beside it the panel that suits the instance best. */
export function openDefault(targets: readonly Target[]): void {
  openPanels(
    targets.flatMap((target) => [
      { kind: 'instance', target },
      { kind: 'auto', target },
    ]),
  );
}

export function command(target: Target, request: CommandRequest): void {
  client?.command(target, request);
}

/** Subscribes to the answers of a query. Returns the number for `hide`. */
export function showView(query: Query, draw: (result: ViewResult) => void): number {
  lastView++;
  awaitView(lastView);
  onView(lastView, (result) => {
    viewAnswered(result);
    draw(result);
  });
  client?.show(lastView, query);
  return lastView;
}

export function hideView(id: number): void {
  offView(id);
  forgetView(id);
  client?.hide(id);
}
