import { isBlob, isStruct, isVector, type Metric, type Schema } from '@oasis/wire';

/** Whether the value is neither a vector nor a struct. */
export function isScalar({ type }: Metric): boolean {
  return !isVector(type) && !isStruct(type) && !isBlob(type);
}

/** Whether the value is one number. */
export function isNumber({ type }: Metric): boolean {
  return typeof type === 'string' && type !== 'string' && type !== 'boolean';
}

export function isLine(metric: Metric): boolean {
  const { type } = metric;
  return (
    typeof type === 'string' &&
    type !== 'string' &&
    type !== 'boolean' &&
    !isState(metric) &&
    !isEvent(metric)
  );
}

export function isState({ type, kind, enum: names }: Metric): boolean {
  if (isVector(type) || isStruct(type) || isBlob(type) || kind === 'event') return false;
  return type === 'boolean' || kind === 'state' || names !== undefined || type === 'string';
}

export function isEvent({ kind }: Metric): boolean {
  return kind === 'event';
}

export function hasLimits({ min, max, warn, alarm }: Metric): boolean {
  return (min !== undefined && max !== undefined) || warn !== undefined || alarm !== undefined;
}

/** Returns direction and speed of a wind. A vehicle has both, too: one of the names must say wind. */
export function findWind({ name, metrics }: Pick<Schema, 'name' | 'metrics'>) {
  const [direction, speed] = [
    pick(metrics, (unit) => unit === 'deg', /direction|bearing|heading/i),
    pick(metrics, (unit) => /^(m\/s|km\/h|\[kn_i\])$/.test(unit), /speed|velocity/i),
  ];
  if (!direction || !speed) return undefined;
  const isWind = WIND.test(name) || saysWind(direction) || saysWind(speed);
  return isWind ? { direction: direction.name, speed: speed.name } : undefined;
}

const WIND = /wind(?!ing|ow)|anemo/i;

function saysWind({ name, label }: Metric): boolean {
  return WIND.test(name) || WIND.test(label ?? '');
}

/** The metric of a unit and a name, best one that says wind. */
function pick(metrics: readonly Metric[], fits: (unit: string) => boolean, called: RegExp) {
  const found = metrics.filter(({ name, unit }) => fits(unit ?? '') && called.test(name));
  return found.find(saysWind) ?? found[0];
}
