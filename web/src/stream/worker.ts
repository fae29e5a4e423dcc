/// <reference lib="webworker" />
import { SUBPROTOCOL } from './protocol.ts';
import { Session } from './session.ts';
import { buffersOf, type LossReason, type PageMessage } from './view.ts';

/**
 * The worker: sockets and timers at the edge of {@link Session}. The page gets a snapshot when something changed and the one
 * before has been drawn, so never more than one an animation frame, and none while it is hidden.
 */
const HEALTH_MS = 2000;
const GOING_AWAY = 1001;
const NO_STATUS = 1006;

const page = self as unknown as DedicatedWorkerGlobalScope;
const session = new Session();
let url = '';
let health = '';
let socket: WebSocket | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let isPageReady = true;
/** Counts attempts to connect, so that one that was given up does not come back. */
let attempt = 0;

page.onmessage = (event: MessageEvent<PageMessage>) => {
  const message = event.data;
  switch (message.op) {
    case 'start':
      url = message.url;
      health = message.health;
      break;
    case 'watch':
      session.watch(message.target);
      break;
    case 'unwatch':
      session.unwatch(message.target);
      break;
    case 'command':
      session.command(message.target, message.wish, now());
      break;
    case 'show':
      session.views.show(message.id, message.query);
      break;
    case 'hide':
      session.views.hide(message.id);
      break;
    case 'drawn':
      isPageReady = true;
      session.views.reuse(message.buffers);
      break;
  }
  if (url !== '') turn();
};

/** Milliseconds since 1970 that never jump: the offset to the DAC's clock is measured against this one. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

/** After every event: lets the session act, tells the page, sets the alarm. */
function turn(): void {
  session.tick(now());
  for (const action of session.drainActions()) {
    if (action.do === 'connect') void connect(action.isFirst);
    else if (action.do === 'send') socket?.send(action.text);
    else abandon();
  }
  if (isPageReady) {
    const snapshot = session.drainSnapshot(now());
    if (snapshot) {
      isPageReady = false;
      page.postMessage(snapshot, buffersOf(snapshot));
    }
  }
  clearTimeout(timer);
  // Nothing is due for a page that is still drawing: it says when it is done.
  const due = isPageReady ? session.nextTick() : session.nextDuty();
  timer = setTimeout(turn, Math.max(1, due - now()));
}

async function connect(isFirst: boolean): Promise<void> {
  abandon();
  const mine = attempt;
  // Browsers slow down WebSockets to a host that keeps refusing them, up to seconds each; they do not slow down requests.
  // So a DAC that went away is asked for by HTTP, and gets a WebSocket once it answers.
  const isThere = isFirst || (await isServing());
  if (mine !== attempt) return;
  if (!isThere) {
    session.closed('unreachable', undefined, now());
    turn();
    return;
  }
  const opened = new WebSocket(url, SUBPROTOCOL);
  opened.binaryType = 'arraybuffer';
  socket = opened;
  opened.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
    if (socket !== opened) return;
    if (typeof event.data === 'string') session.text(event.data, now());
    else session.binary(new Uint8Array(event.data), now());
    turn();
  };
  opened.onclose = (event) => {
    if (socket !== opened) return;
    socket = undefined;
    session.closed(reasonOf(event.code), event.code, now());
    turn();
  };
}

async function isServing(): Promise<boolean> {
  try {
    return (await fetch(health, { cache: 'no-store', signal: AbortSignal.timeout(HEALTH_MS) })).ok;
  } catch {
    return false;
  }
}

/** Drops the socket without waiting for its farewell. */
function abandon(): void {
  attempt++;
  const old = socket;
  socket = undefined;
  old?.close();
}

function reasonOf(code: number): LossReason {
  if (code === GOING_AWAY) return 'shutdown';
  return code === NO_STATUS ? 'closed' : 'protocol';
}
