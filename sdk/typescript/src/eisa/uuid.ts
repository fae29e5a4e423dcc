import type { CdrReader, CdrWriter } from '../sample/cdr.ts';

/** Writes a UUID such as `6f0f6e7e-3f0b-4c58-9d3c-0d7b6f2a9f31`: three numbers, then eight octets unchanged (eisa.md). */
export function writeUuid(uuid: string, to: CdrWriter): void {
  const digits = uuid.replaceAll('-', '');
  const number = (start: number, end: number) => Number.parseInt(digits.slice(start, end), 16);
  to.uint32(number(0, 8), 'Packet.uuid');
  to.uint16(number(8, 12), 'Packet.uuid');
  to.uint16(number(12, 16), 'Packet.uuid');
  for (let at = 16; at < 32; at += 2) to.uint8(number(at, at + 2), 'Packet.uuid');
}

/** Reads a UUID as lower-case text. */
export function readUuid(source: CdrReader): string {
  const low = hex(source.uint32(), 8);
  const middle = hex(source.uint16(), 4);
  const high = hex(source.uint16(), 4);
  const octets = Array.from(source.octets(8), (octet) => hex(octet, 2)).join('');
  return `${low}-${middle}-${high}-${octets.slice(0, 4)}-${octets.slice(4)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
