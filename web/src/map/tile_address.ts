const LONGEST = 500;

/** Returns whether an address can be used: a path of this server with `{z}`, `{x}` and `{y}`. The DAC's policy permits no other server. */
export function isTileAddress(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > LONGEST) return false;
  if (!['{z}', '{x}', '{y}'].every((part) => text.includes(part))) return false;
  return /^\/(?!\/)[^\s\\]*$/.test(text);
}
