import type { Metric, Schema } from '@oasis/wire';
import { metricAt } from '../series/parts.ts';
import { keyOf, type Target } from '../wire/target.ts';
import type { Plan, PlanInput, PlanNode } from './plan.ts';
import { expressionStrings } from './strings.ts';
import { type FunctionName, formatReference, type Reference, type Syntax } from './syntax.ts';
import { ExpressionError } from './tokens.ts';
import {
  differenceOf,
  divide,
  isAffine,
  isNumber,
  isSameDimension,
  multiply,
  NONE,
  nameOfUnit,
  parseUnit,
  perSecond,
  raise,
  settle,
  type Unit,
  unitInWords,
} from './units.ts';

const words = expressionStrings.expressions;

/** An expression whose units fit. */
export interface Checked {
  readonly plan: Plan;
  /** Unit of the result; undefined for plain numbers. */
  readonly unit: string | undefined;
}

/** Longest window of a mean, in seconds. */
const MAX_WINDOW_S = 600;

/** A part of the plan with its unit. A `constant` has no unit of its own: it takes that of what it is added to. */
interface Part {
  readonly node: PlanNode;
  readonly unit: Unit;
  readonly constant?: number;
}

/**
 * Checks the units of an expression and plans its computation. Each reference has a node. Returns the target whose schema is
 * not known yet, if there is one. Throws an {@link ExpressionError}.
 */
export function checkExpression(
  syntax: Syntax,
  schemaOf: (target: Target) => Schema | undefined,
): Checked | Target {
  const checker = new Checker(schemaOf);
  try {
    const { node, unit } = checker.part(syntax);
    if (checker.inputs.length === 0) throw new ExpressionError(words.noInput);
    const plan = { inputs: checker.inputs, root: node, before: checker.before };
    return { plan, unit: nameOfUnit(unit) };
  } catch (error) {
    if (error instanceof Missing) return error.target;
    throw error;
  }
}

export function isChecked(found: Checked | Target): found is Checked {
  return 'plan' in found;
}

class Missing extends Error {
  constructor(readonly target: Target) {
    super('');
  }
}

class Checker {
  readonly inputs: PlanInput[] = [];
  before = 0;
  private readonly numbers = new Map<string, number>();

  constructor(private readonly schemaOf: (target: Target) => Schema | undefined) {}

  part(syntax: Syntax): Part {
    switch (syntax.kind) {
      case 'number':
        return syntax.unit === undefined
          ? constant(syntax.value)
          : { node: { op: 'number', value: syntax.value }, unit: parseUnit(syntax.unit) };
      case 'reference':
        return this.input(syntax.reference);
      case 'negate':
        return this.negated(this.part(syntax.of));
      case 'unit':
        return this.withUnit(this.part(syntax.of), syntax.how, syntax.unit);
      case 'binary':
        return this.binary(syntax.operator, this.part(syntax.left), this.part(syntax.right));
      case 'call':
        return this.call(syntax.name, syntax.args);
    }
  }

  private input(reference: Reference): Part {
    const { node = '', instance, metric, element } = reference;
    const target = { node, instance };
    const found = this.metric(reference, target);
    const key = `${metric.length} ${metric} ${element?.length ?? ''} ${element ?? ''} ${keyOf(target)}`;
    let index = this.numbers.get(key);
    if (index === undefined) {
      index = this.inputs.length;
      this.numbers.set(key, index);
      this.inputs.push({ target, metric, ...(element !== undefined && { element }) });
    }
    return { node: { op: 'input', index }, unit: parseUnit(found.unit) };
  }

  private metric(reference: Reference, target: Target): Metric {
    const schema = this.schemaOf(target);
    if (!schema) throw new Missing(target);
    const found = metricAt(schema, reference.metric);
    if (!found) throw new ExpressionError(words.unknownMetric(reference.instance, reference.metric));
    if (typeof found.type !== 'string' || found.type === 'string')
      throw new ExpressionError(words.notANumber(formatReference({ ...reference, node: undefined })));
    return found;
  }

  private negated({ node, unit, constant: value }: Part): Part {
    if (value !== undefined) return constant(-value);
    if (isAffine(unit)) throw new ExpressionError(words.affine(unitInWords(unit)));
    return { node: scaled(node, -1), unit };
  }

  private withUnit(part: Part, how: 'in' | 'as', text: string): Part {
    const unit = parseUnit(text);
    if (how === 'as' || part.constant !== undefined) return { node: part.node, unit };
    if (!isSameDimension(part.unit, unit))
      throw new ExpressionError(words.cannotConvert(unitInWords(part.unit), unitInWords(unit)));
    return { node: converted(part, unit), unit };
  }

  private binary(operator: '+' | '-' | '*' | '/' | '^', left: Part, right: Part): Part {
    const [one, other] = [left.constant, right.constant];
    if (one !== undefined && other !== undefined) return constant(computed(operator, one, other));
    switch (operator) {
      case '+':
      case '-':
        return sum(operator, left, right);
      case '*':
        return times(operator, left, right);
      case '/':
        return times(operator, left, right);
      case '^':
        return raised(left, right);
    }
  }

  private call(name: FunctionName, syntaxes: readonly Syntax[]): Part {
    const args = syntaxes.map((syntax) => this.part(syntax));
    const [first] = args;
    switch (name) {
      case 'abs':
        return { node: { op: 'abs', of: first.node }, unit: first.unit };
      case 'sqrt':
        return root(first);
      case 'min':
      case 'max':
        return least(name, args);
      case 'exp':
      case 'log':
        return { node: { op: name, of: plain(name, first) }, unit: NONE };
      case 'sin':
      case 'cos':
        return { node: { op: name, of: plain(name, first) }, unit: NONE };
      case 'rate':
        return this.rate(syntaxes[0], first);
      case 'mean':
        return this.mean(first, args[1]);
    }
  }

  private rate(syntax: Syntax, { node, unit }: Part): Part {
    const isCounter =
      syntax.kind === 'reference' &&
      this.metric(syntax.reference, targetOf(syntax.reference)).kind === 'counter';
    return { node: { op: 'rate', of: node, isCounter }, unit: perSecond(unit) };
  }

  private mean({ node, unit }: Part, window: Part): Part {
    const seconds = window.constant ?? secondsIn(window);
    if (seconds === undefined || !(seconds > 0) || seconds > MAX_WINDOW_S)
      throw new ExpressionError(words.badWindow(MAX_WINDOW_S));
    this.before += seconds * 1000;
    return { node: { op: 'mean', of: node, window: seconds * 1000 }, unit };
  }
}

function targetOf({ node = '', instance }: Reference): Target {
  return { node, instance };
}

function constant(value: number): Part {
  return { node: { op: 'number', value }, unit: NONE, constant: value };
}

function computed(operator: '+' | '-' | '*' | '/' | '^', left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '^':
      return left ** right;
  }
}

/** A sum has the unit of its left side, or of the side that has one. */
function sum(operator: '+' | '-', left: Part, right: Part): Part {
  const make = (one: PlanNode, other: PlanNode, unit: Unit): Part => ({
    node: { op: operator, left: one, right: other },
    unit,
  });
  if (left.constant !== undefined) return make(left.node, right.node, right.unit);
  if (right.constant !== undefined) return make(left.node, right.node, left.unit);
  if (!isSameDimension(left.unit, right.unit)) {
    const name = operator === '+' ? words.cannotAdd : words.cannotSubtract;
    throw new ExpressionError(name(unitInWords(left.unit), unitInWords(right.unit)));
  }
  // 20 °C and 5 K are 25 °C, and 20 °C less 15 °C are 5 K.
  if (isAffine(left.unit) && !isAffine(right.unit))
    return make(left.node, converted(right, differenceOf(left.unit)), left.unit);
  if (!isAffine(left.unit) && isAffine(right.unit))
    throw new ExpressionError(words.affine(unitInWords(right.unit)));
  const unit = isAffine(left.unit) && operator === '-' ? differenceOf(left.unit) : left.unit;
  return make(left.node, converted(right, left.unit), unit);
}

function times(operator: '*' | '/', left: Part, right: Part): Part {
  const node: PlanNode = { op: operator, left: left.node, right: right.node };
  // A mean of temperatures is a temperature: a plain number may scale what begins at any zero.
  if (right.constant !== undefined) return { node, unit: left.unit };
  if (left.constant !== undefined && operator === '*') return { node, unit: right.unit };
  const affine = [left.unit, right.unit].find(isAffine);
  if (affine) throw new ExpressionError(words.affine(unitInWords(affine)));
  const { unit, scale } = settle((operator === '*' ? multiply : divide)(left.unit, right.unit));
  return { node: scaled(node, scale), unit };
}

function raised(base: Part, exponent: Part): Part {
  if (!isNumber(exponent.unit)) throw new ExpressionError(words.unitInExponent(unitInWords(exponent.unit)));
  const node: PlanNode = { op: '^', left: base.node, right: plainOf(exponent) };
  if (base.constant !== undefined) return { node, unit: NONE };
  if (exponent.constant === undefined) {
    if (!isNumber(base.unit)) throw new ExpressionError(words.variableExponent(unitInWords(base.unit)));
    return { node: { ...node, left: plainOf(base) }, unit: NONE };
  }
  if (isAffine(base.unit)) throw new ExpressionError(words.affine(unitInWords(base.unit)));
  const unit = raise(base.unit, exponent.constant);
  if (!unit) throw new ExpressionError(words.noPower(unitInWords(base.unit)));
  return { node, unit };
}

function root(of: Part): Part {
  const node: PlanNode = { op: 'sqrt', of: of.node };
  if (of.constant !== undefined) return constant(Math.sqrt(of.constant));
  const unit = isAffine(of.unit) ? undefined : raise(of.unit, 0.5);
  if (!unit) throw new ExpressionError(words.noRoot(unitInWords(of.unit)));
  return { node, unit };
}

function least(op: 'min' | 'max', args: readonly Part[]): Part {
  const typed = args.find((part) => part.constant === undefined);
  if (!typed) {
    const values = args.map((part) => part.constant ?? Number.NaN);
    return constant(op === 'min' ? Math.min(...values) : Math.max(...values));
  }
  const parts = args.map((part) => {
    if (part.constant !== undefined) return part.node;
    if (isSameDimension(part.unit, typed.unit)) return converted(part, typed.unit);
    throw new ExpressionError(words.cannotCompare(unitInWords(typed.unit), unitInWords(part.unit)));
  });
  return { node: { op, args: parts }, unit: typed.unit };
}

/** The argument of a function that takes plain numbers; angles in radians. */
function plain(name: string, part: Part): PlanNode {
  if (!isNumber(part.unit)) throw new ExpressionError(words.unitInFunction(name, unitInWords(part.unit)));
  return plainOf(part);
}

function plainOf({ node, unit }: Part): PlanNode {
  return scaled(node, unit.factor);
}

function secondsIn({ node, unit }: Part): number | undefined {
  return node.op === 'number' && isSameDimension(unit, parseUnit('s')) ? node.value * unit.factor : undefined;
}

/** Converts to another unit of the same dimension. */
function converted({ node, unit }: Part, to: Unit): PlanNode {
  return scaled(node, unit.factor / to.factor, (unit.offset - to.offset) / to.factor);
}

function scaled(of: PlanNode, factor: number, offset = 0): PlanNode {
  if (Math.abs(factor - 1) < 1e-12 && offset === 0) return of;
  return { op: 'scale', factor, offset, of };
}
