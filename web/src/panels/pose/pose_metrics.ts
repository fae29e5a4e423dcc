import { isStruct, isVector, type Metric } from '@oasis/wire';
import { isSameDimension, parseUnit } from '../../expressions/units.ts';
import { partsOf } from '../../series/parts.ts';

/** A number of an instance, as expressions name it. */
export interface PoseMetric {
  /** Name of a metric, or a pattern for numbers within it. */
  readonly metric: string;
  /** The element that a pattern means. */
  readonly element?: string;
}

/** The numbers of an instance that are a pose, or a part of one. */
export interface FoundPose {
  /** x, y and z. */
  readonly position?: readonly PoseMetric[];
  /** x, y, z and w of a quaternion. */
  readonly attitude?: readonly PoseMetric[];
}

/** A number with its name: `q[0]` for an element of a vector. */
interface NamedNumber extends PoseMetric {
  readonly name: string;
  readonly unit?: string | undefined;
}

/** Names of coordinates: the words before them, and the coordinate. Words such as `velocity` are of something else. */
const COORDINATE =
  /^(?<group>(?:.*[_.])?(?:(?:position|pos|translation|location|point|pose|odom|odometry)[_.]|[pt])|)(?<side>[xyz])(?:_m)?$/i;
/** A vector of three coordinates, without its index. */
const COORDINATES = /(?:^|[_.])(?:position|pos|translation|xyz)$/i;
/** Parts of quaternions by letter: `qx`, `q_x`, `orientation.x`, `quaternion_w`. */
const LETTER =
  /^(?<group>(?:.*[_.])?(?:q|quat|quaternion|orientation|rotation|attitude)[_.]?)(?<side>[xyzw])$/i;
/** Parts of quaternions by number, as PX4 and MAVLink have them: `q[0]`, `q0`, or `q1` to `q4`. */
const DIGIT = /^(?<group>(?:.*[_.])?q_?\[?)(?<side>[0-4])\]?$/i;
const SCALAR_LAST = ['x', 'y', 'z', 'w'];
/** PX4, MAVLink and most libraries that number the parts begin with w. */
const SCALAR_FIRST = [
  ['1', '2', '3', '0'],
  ['2', '3', '4', '1'],
];
const LENGTH = parseUnit('m');

/** Finds a position and a quaternion among the metrics of an instance by their names; the first of each. */
export function findPose(metrics: readonly Metric[]): FoundPose {
  const numbers = metrics.flatMap(numbersIn);
  const lengths = numbers.filter(({ unit }) => unit === undefined || isLength(unit));
  const position = pick(lengths, COORDINATE, ['x', 'y', 'z']) ?? pickVector(lengths);
  const attitude = [SCALAR_LAST, ...SCALAR_FIRST].reduce<readonly PoseMetric[] | undefined>(
    (found, sides) => found ?? pick(numbers, sides === SCALAR_LAST ? LETTER : DIGIT, sides),
    undefined,
  );
  return { ...(position && { position }), ...(attitude && { attitude }) };
}

/** Whether names say that z points down: north, east, down, as PX4 has it. */
export function isNorthEastDown(names: readonly string[]): boolean {
  return names.some((name) =>
    /(?:^|[^a-z])ned(?:[^a-z]|$)|vehicle_?(?:local_?position|attitude|odometry)/i.test(name),
  );
}

/** Returns the numbers of the first group that has each side. */
function pick(
  numbers: readonly NamedNumber[],
  pattern: RegExp,
  sides: readonly string[],
): readonly PoseMetric[] | undefined {
  const groups = new Map<string, Map<string, PoseMetric>>();
  for (const { name, metric, element } of numbers) {
    const { group, side } = pattern.exec(name)?.groups ?? {};
    if (group === undefined || side === undefined) continue;
    const found = groups.get(group) ?? new Map<string, PoseMetric>();
    groups.set(group, found.set(side.toLowerCase(), { metric, ...(element !== undefined && { element }) }));
  }
  for (const group of groups.values()) {
    const found = sides.flatMap((side) => group.get(side) ?? []);
    if (found.length === sides.length) return found;
  }
  return undefined;
}

/** Three elements of a vector with the name of a position. */
function pickVector(numbers: readonly NamedNumber[]): readonly PoseMetric[] | undefined {
  const found = numbers.find(
    ({ metric, element }) => element !== undefined && COORDINATES.test(metric.slice(0, -2)),
  );
  return found && ['0', '1', '2'].map((element) => ({ metric: found.metric, element }));
}

/** The numbers in a metric; of a vector the first four elements, because its length is in the samples. */
function numbersIn(metric: Metric): NamedNumber[] {
  const { type, kind, name, unit } = metric;
  if (isStruct(type))
    return partsOf(metric).map((part) => ({
      name: part.pattern,
      metric: part.pattern,
      unit: part.metric.unit,
    }));
  if (isVector(type))
    return partsOf(metric).flatMap((part) =>
      part.pattern === `${name}[]`
        ? ['0', '1', '2', '3'].map((element) => ({
            name: `${name}[${element}]`,
            metric: part.pattern,
            element,
            unit,
          }))
        : [],
    );
  return type === 'string' || type === 'boolean' || kind === 'counter' ? [] : [{ name, metric: name, unit }];
}

function isLength(unit: string): boolean {
  try {
    return isSameDimension(parseUnit(unit), LENGTH);
  } catch {
    // A unit that is not of UCUM.
    return false;
  }
}
