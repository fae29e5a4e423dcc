/** An instance of a node, by their names. */
export interface Target {
  readonly node: string;
  readonly instance: string;
}

/** Returns a map key for a target. Names may contain anything, so the key begins with the length of the first. */
export function keyOf(target: Target): string {
  return `${target.node.length} ${target.node} ${target.instance}`;
}

/** Returns the target of a key. */
export function targetOfKey(key: string): Target {
  const start = key.indexOf(' ') + 1;
  const end = start + Number(key.slice(0, start));
  return { node: key.slice(start, end), instance: key.slice(end + 1) };
}
