/** An instance of a node, by their names. */
export interface Target {
  readonly node: string;
  readonly instance: string;
}

/** Returns a map key for a target. Names may contain anything, so they are quoted. */
export function keyOf(target: Target): string {
  return JSON.stringify([target.node, target.instance]);
}
