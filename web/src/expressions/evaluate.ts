import type { PlanNode } from './plan.ts';
import { type Aligned, align, type Signal } from './signal.ts';

/**
 * Computes an expression column by column. An expression of several instances has a value at each of their times.
 * `rate` and `mean` use earlier values: each has the times of its argument only. A result that is not finite is
 * unknown; infinite samples of a plain metric stay.
 */
export function evaluate(root: PlanNode, inputs: readonly Signal[]): Signal {
  return evaluatePart(root, inputs, isMetric(root));
}

/** Whether an expression has the samples of a metric, in its unit or in another one. */
function isMetric(node: PlanNode): boolean {
  return node.op === 'input' || (node.op === 'scale' && isMetric(node.of));
}

function evaluatePart(root: PlanNode, inputs: readonly Signal[], keepsInfinities = false): Signal {
  const leaves = new Map<PlanNode, Signal>();
  collect(root, inputs, leaves);
  const { columns, ...line } = alignedOf([...leaves.values()]);
  const columnOf = new Map([...leaves.keys()].map((leaf, index) => [leaf, columns[index]]));
  const values = compute(root, columnOf, line.times.length);
  return { ...line, values, breaks: withUnknown(values, line.breaks, keepsInfinities) };
}

const EMPTY: Aligned = {
  times: new Float64Array(),
  breaks: new Uint8Array(),
  columns: [],
  maxAge: 0,
  until: 0,
};

function alignedOf(signals: readonly Signal[]): Aligned {
  return signals.length === 0 ? EMPTY : align(signals);
}

/** Finds what has a time line of its own. */
function collect(node: PlanNode, inputs: readonly Signal[], into: Map<PlanNode, Signal>): void {
  switch (node.op) {
    case 'number':
      return;
    case 'input':
      into.set(node, inputs[node.index]);
      return;
    case 'rate':
      into.set(node, rateOf(evaluatePart(node.of, inputs), node.isCounter));
      return;
    case 'mean':
      into.set(node, meanOf(evaluatePart(node.of, inputs), node.window));
      return;
    case 'min':
    case 'max':
      for (const part of node.args) collect(part, inputs, into);
      return;
    case '+':
    case '-':
    case '*':
    case '/':
    case '^':
      collect(node.left, inputs, into);
      collect(node.right, inputs, into);
      return;
    default:
      collect(node.of, inputs, into);
  }
}

function compute(node: PlanNode, columns: ReadonlyMap<PlanNode, Float64Array>, count: number): Float64Array {
  const known = columns.get(node);
  if (known) return known;
  const of = (part: PlanNode) => compute(part, columns, count);
  const each = (value: (index: number) => number) => {
    const found = new Float64Array(count);
    for (let index = 0; index < count; index++) found[index] = value(index);
    return found;
  };
  switch (node.op) {
    case 'number':
      return new Float64Array(count).fill(node.value);
    case 'scale': {
      const { factor, offset } = node;
      const column = of(node.of);
      return each((index) => column[index] * factor + offset);
    }
    case 'min':
    case 'max': {
      const args = node.args.map(of);
      const choose = node.op === 'min' ? Math.min : Math.max;
      return each((index) => choose(...args.map((column) => column[index])));
    }
    case '+':
    case '-':
    case '*':
    case '/':
    case '^':
      return binary(node.op, of(node.left), of(node.right));
    case 'input':
    case 'rate':
    case 'mean':
      return new Float64Array(count).fill(Number.NaN);
    default: {
      const [column, call] = [of(node.of), Math[node.op]];
      return each((index) => call(column[index]));
    }
  }
}

function binary(
  operator: '+' | '-' | '*' | '/' | '^',
  left: Float64Array,
  right: Float64Array,
): Float64Array {
  const found = new Float64Array(left.length);
  for (let index = 0; index < found.length; index++) {
    const [one, other] = [left[index], right[index]];
    if (operator === '+') found[index] = one + other;
    else if (operator === '-') found[index] = one - other;
    else if (operator === '*') found[index] = one * other;
    else if (operator === '/') found[index] = one / other;
    // NaN to the power 0 is 1 in this language, and unknown here.
    else found[index] = Number.isNaN(one) ? Number.NaN : one ** other;
  }
  return found;
}

/** A value that is no finite number separates those around it, and is unknown unless it is an infinite sample. */
function withUnknown(values: Float64Array, breaks: Uint8Array, keepsInfinities: boolean): Uint8Array {
  let found = breaks;
  for (let index = 0; index < values.length; index++) {
    if (Number.isFinite(values[index])) continue;
    if (!keepsInfinities) values[index] = Number.NaN;
    if (index + 1 === values.length) break;
    if (found === breaks) found = breaks.slice();
    found[index + 1] = 1;
  }
  return found;
}

/** The change from each value to the next, per second. The first one after a gap has none. */
function rateOf(signal: Signal, isCounter: boolean): Signal {
  const { times, values, breaks } = signal;
  const rates = new Float64Array(values.length).fill(Number.NaN);
  for (let index = 1; index < values.length; index++) {
    const step = values[index] - values[index - 1];
    const seconds = (times[index] - times[index - 1]) / 1000;
    if (breaks[index] === 1 || !(seconds > 0) || (isCounter && step < 0)) continue;
    rates[index] = step / seconds;
  }
  return { ...signal, values: rates };
}

/** The mean of the values in a window before each. After a gap it begins anew. */
function meanOf(signal: Signal, window: number): Signal {
  const { times, values, breaks } = signal;
  const means = new Float64Array(values.length).fill(Number.NaN);
  let first = 0;
  let sum = 0;
  for (let index = 0; index < values.length; index++) {
    const isUnknown = Number.isNaN(values[index]);
    if (breaks[index] === 1 || isUnknown) [first, sum] = [index, 0];
    if (isUnknown) {
      first = index + 1;
      continue;
    }
    sum += values[index];
    while (times[index] - times[first] >= window) {
      sum -= values[first];
      first++;
    }
    means[index] = sum / (index - first + 1);
  }
  return { ...signal, values: means };
}
