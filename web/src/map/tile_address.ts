const LONGEST = 500;

/**
 * Returns whether an address can be used: a path of this server, or an address of a server that the DAC permits, with
 * `{z}`, `{x}` and `{y}`.
 */
export function isTileAddress(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > LONGEST) return false;
  if (!['{z}', '{x}', '{y}'].every((part) => text.includes(part))) return false;
  return /^(?:\/(?![/\\])|https?:\/\/[a-z\d])[^\s\\]*$/i.test(text);
}
