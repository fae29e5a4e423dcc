/// <reference lib="webworker" />
import { DoorChoice } from './doors/choice.ts';
import type { Door, DoorEvents } from './doors/door.ts';
import { TextDoor } from './doors/text_door.ts';
import { WebSocketDoor } from './doors/websocket_door.ts';
import { Requests } from './requests.ts';
import { Session } from './session.ts';
import { buffersOf, type PageMessage, type Positions } from './view.ts';

/**
 * The worker: doors and timers at the edge of {@link Session}. The page receives a snapshot after a change, once it has
 * drawn the previous one: at most one for each animation frame, and none while it is hidden.
 */
const HEALTH_MS = 2000;
/** How often the best door is tried while the page uses another one. */
const RETURN_MS = 15_000;

const worker = self as unknown as DedicatedWorkerGlobalScope;
const session = new Session();
const choice = new DoorChoice();
const requests = new Requests((id, answer, status) => {
  session.answered(id, answer, status, now());
  turn();
});
let page = '';
let door: Door | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let isPageReady = true;
/** Counts connection attempts, so that events of a canceled one are ignored. */
let attempt = 0;
/** Whether the present door has opened. */
let hasOpened = false;

worker.onmessage = (event: MessageEvent<PageMessage>) => {
  const message = event.data;
  switch (message.op) {
    case 'start':
      page = message.page;
      choice.choose(message.door);
      break;
    case 'choose':
      choice.choose(message.door);
      changeDoor();
      break;
    case 'watch':
      session.watch(message.target, message.before);
      break;
    case 'unwatch':
      session.unwatch(message.target);
      break;
    case 'positions':
      worker.postMessage({ positions: session.positions() } satisfies Positions);
      break;
    case 'command':
      session.command(message.target, message.request, now());
      break;
    case 'show':
      session.views.show(message.id, message.query);
      if (message.query.kind === 'fleet') void loadFleets();
      break;
    case 'hide':
      session.views.hide(message.id);
      break;
    case 'drawn':
      isPageReady = true;
      session.views.reuse(message.buffers);
      break;
  }
  if (page !== '') turn();
};

/** Whether the code for fleets is loaded, or under way. */
let hasFleets = false;

/** Loads the code for fleets when the first panel shows one. */
async function loadFleets(): Promise<void> {
  if (hasFleets) return;
  hasFleets = true;
  try {
    const { Fleets } = await import('../fleet/fleets.ts');
    session.readFleets((send) => new Fleets(send));
    turn();
  } catch {
    // The DAC was unreachable: the next query tries again.
    hasFleets = false;
  }
}

/** Milliseconds since 1970 that never jump: the offset of the DAC's clock refers to this clock. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Runs after every event: processes actions, sends a snapshot, sets the timer. */
function turn(): void {
  session.tick(now());
  for (const action of session.drainActions()) {
    if (action.do === 'connect') void connect(action.isFirst);
    else if (action.do === 'send') door?.send(action.text);
    else if (action.do === 'request') void requests.send(action.id, new URL(action.path, page));
    else if (action.do === 'cancel') requests.cancel(action.id);
    else {
      void reportDoor();
      abandon();
    }
  }
  if (isPageReady) {
    const snapshot = session.drainSnapshot(now());
    if (snapshot) {
      isPageReady = false;
      worker.postMessage(snapshot, buffersOf(snapshot));
    }
  }
  clearTimeout(timer);
  // A page that is still drawing reports when it is done.
  const due = isPageReady ? session.nextTick() : session.nextDuty();
  timer = setTimeout(turn, Math.max(1, due - now()));
}

async function connect(isFirst: boolean): Promise<void> {
  abandon();
  const own = attempt;
  // Browsers slow down WebSockets to a host that refuses them, by up to seconds each; they do not slow down requests. So a
  // request finds out whether the DAC is back before a door connects.
  const isThere = isFirst || (await isServing());
  if (own !== attempt) return;
  if (!isThere) {
    session.closed('unreachable', undefined, now());
    turn();
    return;
  }
  const { name } = choice;
  hasOpened = false;
  session.setDoor(name);
  const events = eventsOf(own);
  door = name === 'websocket' ? new WebSocketDoor(page, events) : new TextDoor(page, name, events);
}

/** Forwards the events of a door while it is the present one. */
function eventsOf(own: number): DoorEvents {
  const forward = (act: () => void) => {
    if (own !== attempt) return;
    act();
    turn();
  };
  return {
    opened: () => {
      if (own === attempt) hasOpened = true;
    },
    text: (data) => forward(() => session.text(data, now())),
    binary: (bytes) => forward(() => session.binary(bytes, now())),
    batch: (topic, batch, bytes) => forward(() => session.batch(topic, batch, bytes, now())),
    closed: (reason, code) => {
      if (own !== attempt) return;
      door = undefined;
      void reportDoor();
      session.closed(reason, code, now());
      turn();
    },
  };
}

/** Reports a door that never opened although the DAC answers, for example because a proxy refuses it. */
async function reportDoor(): Promise<void> {
  if (hasOpened) choice.opened();
  else if (await isServing()) choice.failed();
}

async function isServing(): Promise<boolean> {
  try {
    const health = new URL('api/v1/health', page);
    return (await fetch(health, { cache: 'no-store', signal: AbortSignal.timeout(HEALTH_MS) })).ok;
  } catch {
    return false;
  }
}

/** Connects again through the door that is chosen now. */
function changeDoor(): void {
  abandon();
  session.closed('door', undefined, now());
}

/** Goes back to the best door once it works again: whatever refused it may be gone. */
async function tryBest(): Promise<void> {
  if (!choice.isSecondBest || !hasOpened) return;
  const own = attempt;
  if (!(await WebSocketDoor.opens(page)) || own !== attempt) return;
  choice.best();
  changeDoor();
  turn();
}

setInterval(() => void tryBest(), RETURN_MS);

/** Drops the door without waiting for its close event. */
function abandon(): void {
  attempt++;
  door?.close();
  door = undefined;
}
