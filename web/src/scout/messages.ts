/** Messages between the page and its scout. */

export interface ScoutQuestion {
  readonly id: number;
  /** In the order in which they are asked. */
  readonly addresses: readonly string[];
}

export interface ScoutAnswer {
  readonly id: number;
  /** The first that works. */
  readonly found: string | undefined;
}
