import { EncodeError } from '../error.ts';
import { CdrWriter } from '../sample/cdr.ts';

const COMMAND_BYTES = 256;

/** Asks the DAC for an instance's samples: its latest, then every new one (eisa.md, "On the WebSocket"). */
export function registerCommand(node: string, instance: string): Uint8Array<ArrayBuffer> {
  return command(0x01, [node, instance]);
}

/** Stops the samples of an instance. */
export function unregisterCommand(node: string, instance: string): Uint8Array<ArrayBuffer> {
  return command(0x02, [node, instance]);
}

/** Asks a node to sample an instance at another rate. */
export function rateCommand(node: string, instance: string, hertz: number): Uint8Array<ArrayBuffer> {
  // So that 0.1 + 0.2 is asked for as 0.3.
  return command(0x03, [node, instance, String(Number(hertz.toPrecision(12)))]);
}

/** Asks for an instance's schema, which comes as JSON in a text frame. */
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
