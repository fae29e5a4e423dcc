import { EncodeError } from '../error.ts';
import { CdrWriter } from '../sample/cdr.ts';

const COMMAND_BYTES = 256;

/** Requests the samples of an instance from the DAC: the latest, then every new one (eisa.md, "On the WebSocket"). */
export function registerCommand(node: string, instance: string): Uint8Array<ArrayBuffer> {
  return command(0x01, [node, instance]);
}

/** Stops the samples of an instance. */
export function unregisterCommand(node: string, instance: string): Uint8Array<ArrayBuffer> {
  return command(0x02, [node, instance]);
}

/** Requests another sampling rate of an instance. */
export function rateCommand(node: string, instance: string, hertz: number): Uint8Array<ArrayBuffer> {
  // Rounds, so that 0.1 + 0.2 requests 0.3.
  return command(0x03, [node, instance, String(Number(hertz.toPrecision(12)))]);
}

/** Requests the schema of an instance, which arrives as JSON in a text frame. */
export function schemaCommand(node: string, instance: string): Uint8Array<ArrayBuffer> {
  return command(0x04, [node, instance]);
}

function command(opcode: number, strings: readonly string[]): Uint8Array<ArrayBuffer> {
  const writer = new CdrWriter();
  writer.octets([opcode]);
  for (const string of strings) writer.string(string, 'command');
  if (writer.length > COMMAND_BYTES) {
    throw new EncodeError(
      'length',
      'command',
      `the names of node and instance do not fit its ${COMMAND_BYTES} bytes`,
    );
  }
  writer.align(COMMAND_BYTES);
  return writer.bytes();
}
