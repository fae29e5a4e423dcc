import type { Door, DoorEvents, LossReason } from './door.ts';

const SUBPROTOCOL = 'oasis.v1';

const GOING_AWAY = 1001;
const NO_STATUS = 1006;

/** The native door, which carries batches unchanged. */
export class WebSocketDoor implements Door {
  private readonly socket: WebSocket;

  constructor(page: string, events: DoorEvents) {
    this.socket = new WebSocket(addressOf(page), SUBPROTOCOL);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onopen = () => events.opened();
    this.socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === 'string') events.text(event.data);
      else events.binary(new Uint8Array(event.data));
    };
    this.socket.onclose = (event) => events.closed(reasonOf(event.code), event.code);
  }

  /** Whether a WebSocket opens now. It is closed again. */
  static opens(page: string): Promise<boolean> {
    const socket = new WebSocket(addressOf(page), SUBPROTOCOL);
    return new Promise((resolve) => {
      socket.onopen = () => {
        socket.close();
        resolve(true);
      };
      socket.onerror = () => resolve(false);
    });
  }

  send(text: string): void {
    this.socket.send(text);
  }

  close(): void {
    this.socket.onmessage = null;
    this.socket.onclose = null;
    this.socket.close();
  }
}

function addressOf(page: string): URL {
  const url = new URL('ws', page);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url;
}

function reasonOf(code: number): LossReason {
  if (code === GOING_AWAY) return 'shutdown';
  return code === NO_STATUS ? 'closed' : 'protocol';
}
