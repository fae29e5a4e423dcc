import { parseKnown, targetsIn } from '../../expressions/resolve.ts';
import { isFields } from '../../wire/fields.ts';
import { keyOf, type Target } from '../../wire/target.ts';
import { parseExpressions } from '../shared/expressions.ts';

/** A pose: expressions of its coordinates, and of the parts of a quaternion. */
export interface Pose {
  /** x, y and z. */
  readonly position: readonly string[];
  /** x, y, z and w. */
  readonly attitude?: readonly string[];
}

/** Most poses in a panel. */
export const MAX_POSES = 16;

const COORDINATES = 3;
const PARTS = 4;

/** Parses a pose of a layout; undefined without a position. */
export function parsePose(json: unknown): Pose | undefined {
  if (!isFields(json)) return undefined;
  const position = parseExpressions(json.position).slice(0, COORDINATES);
  const attitude = parseExpressions(json.attitude).slice(0, PARTS);
  if (position.length !== COORDINATES) return undefined;
  return { position, ...(attitude.length === PARTS && { attitude }) };
}

/** Returns the instances that a pose is computed from, that of the position first. */
export function targetsOfPose({ position, attitude = [] }: Pose): Target[] {
  const all = [...position, ...attitude].flatMap(targetsIn);
  return [...new Map(all.map((target) => [keyOf(target), target])).values()];
}

/** Returns a pose without an instance; undefined if its position is of that instance. */
export function poseWithout(pose: Pose, key: string): Pose | undefined {
  const uses = (texts: readonly string[]) =>
    texts.some((text) => targetsIn(text).some((t) => keyOf(t) === key));
  if (uses(pose.position)) return undefined;
  return pose.attitude && uses(pose.attitude) ? { position: pose.position } : pose;
}

/** Returns the names of numbered parts of a quaternion, `q[1]` for x; undefined if the names are letters. */
export function numberedParts({ attitude = [] }: Pose): readonly string[] | undefined {
  const names = attitude.flatMap((text) => {
    const syntax = parseKnown(text);
    if (syntax?.kind !== 'reference') return [];
    const { metric, element } = syntax.reference;
    const name = element === undefined ? metric : metric.replace('[]', `[${element}]`);
    return /\d\]?$/.test(name) ? [name] : [];
  });
  return names.length === PARTS ? names : undefined;
}
