const MAX_ADDRESS_LENGTH = 500;
/** A path of this server, or an address of another one, which the DAC has to allow (`doors.tile_origins`). */
const ADDRESS = /^(?:https?:\/\/[A-Za-z0-9.:[\]-]+)?\/(?!\/)[^\s\\]*$/;

/** Returns whether an address can be used: it has `{z}`, `{x}` and `{y}` in its path. */
export function isTileAddress(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > MAX_ADDRESS_LENGTH || !ADDRESS.test(text)) return false;
  return ['{z}', '{x}', '{y}'].every((part) => text.includes(part)) && URL.canParse(text, 'http://here');
}

/** The server of an address; nothing if it is this one. */
export function tileOrigin(address: string): string | undefined {
  return address.startsWith('/') ? undefined : new URL(address).origin;
}
