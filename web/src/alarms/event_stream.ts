/** An event of a stream of server-sent events. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Most characters of an event that is not complete. */
const MAX_EVENT = 4 << 20;

/** Splits a stream of text into server-sent events (WHATWG HTML 9.2.6). */
export class EventStreamParser {
  private rest = '';
  private name = '';
  private id: string | undefined;
  private data: string[] = [];

  /** Returns the events that are complete with this text. Throws an error if one is too long. */
  push(text: string): ServerEvent[] {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    const events: ServerEvent[] = [];
    for (const line of lines) {
      const event = this.line(line);
      if (event) events.push(event);
    }
    const waiting = this.data.reduce((sum, line) => sum + line.length, this.rest.length);
    if (waiting > MAX_EVENT) throw new Error(`an event of more than ${MAX_EVENT} characters`);
    return events;
  }

  private line(line: string): ServerEvent | undefined {
    if (line === '') return this.end();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.name = value;
    else if (field === 'data') this.data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.id = value;
    return undefined;
  }

  private end(): ServerEvent | undefined {
    const { name, data, id } = this;
    this.name = '';
    this.data = [];
    return data.length === 0 ? undefined : { name: name || 'message', data: data.join('\n'), id };
  }
}
