/** An expression as the worker computes it: metrics are inputs by number, units are factors. It can be cloned. */
export interface Plan {
  readonly inputs: readonly PlanInput[];
  readonly root: PlanNode;
  /** Time before the shown one that it needs, milliseconds. */
  readonly before: number;
}

export interface PlanInput {
  readonly target: { readonly node: string; readonly instance: string };
  /** Name of a metric, or a pattern for numbers within it. */
  readonly metric: string;
  readonly element?: string;
}

export type PlanNode =
  | { readonly op: 'number'; readonly value: number }
  | { readonly op: 'input'; readonly index: number }
  /** `of` times `factor` plus `offset`. */
  | { readonly op: 'scale'; readonly factor: number; readonly offset: number; readonly of: PlanNode }
  | {
      readonly op: '+' | '-' | '*' | '/' | '^';
      readonly left: PlanNode;
      readonly right: PlanNode;
    }
  | {
      readonly op: 'abs' | 'sqrt' | 'exp' | 'log' | 'sin' | 'cos';
      readonly of: PlanNode;
    }
  | { readonly op: 'min' | 'max'; readonly args: readonly PlanNode[] }
  /** Change per second; a counter that decreases has restarted. */
  | { readonly op: 'rate'; readonly of: PlanNode; readonly isCounter: boolean }
  /** Mean of the last so many milliseconds. */
  | { readonly op: 'mean'; readonly of: PlanNode; readonly window: number };
