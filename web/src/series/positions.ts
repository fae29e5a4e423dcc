import { isStruct, isVector, type Metric } from '@oasis/wire';
import { partsOf } from './parts.ts';

/** The metrics of an instance that say where it is. */
export interface PositionMetrics {
  readonly latitude: string;
  readonly longitude: string;
  /** Clockwise from north. */
  readonly heading?: string;
}

/** Names of latitudes and longitudes, alone or as a part: `gps_lat`, `position.longitude`. */
const NAME = /(?:^|[_.])(lat|lon|lng)(?:gitude|itude|g)?(?:_deg|_rad)?(?:_|$)/i;
/** Names of headings, best first. */
const HEADINGS = [/heading/i, /course|(?:^|[_.])cog(?:_|$)/i, /(?:^|[_.])yaw(?:_|$)/i];
const ANGLES: ReadonlySet<string | undefined> = new Set(['deg', 'rad']);

/** Returns which of them a metric is by its name and unit; undefined for other metrics. */
export function sideOf({ name, unit }: Pick<Metric, 'name' | 'unit'>): 'lat' | 'lon' | undefined {
  if (unit !== undefined && !ANGLES.has(unit)) return undefined;
  const side = NAME.exec(name)?.[1].toLowerCase();
  return side === 'lng' ? 'lon' : (side as 'lat' | 'lon' | undefined);
}

/** Returns the first latitude and longitude with names alike, and the heading beside them. */
export function findPosition(metrics: readonly Metric[]): PositionMetrics | undefined {
  const numbers = metrics.flatMap(numbersIn);
  const latitudes = numbers.filter((number) => sideOf(number) === 'lat');
  const longitudes = numbers.filter((number) => sideOf(number) === 'lon');
  for (const { name: latitude } of latitudes) {
    const longitude = longitudes.find(({ name }) => without(name) === without(latitude))?.name;
    if (longitude === undefined) continue;
    const heading = HEADINGS.map((wanted) =>
      numbers.find(({ name, unit }) => wanted.test(name) && ANGLES.has(unit)),
    ).find((found) => found !== undefined);
    return { latitude, longitude, ...(heading && { heading: heading.name }) };
  }
  return undefined;
}

/** A number or those of a struct, named as expressions name them. Elements of vectors are not positions of the instance. */
function numbersIn(metric: Metric): Pick<Metric, 'name' | 'unit'>[] {
  const { type, kind } = metric;
  if (isVector(type)) return [];
  if (isStruct(type)) return partsOf(metric).map((part) => ({ name: part.pattern, unit: part.metric.unit }));
  return type === 'string' || type === 'boolean' || kind === 'counter' ? [] : [metric];
}

function without(name: string): string {
  return name.replace(NAME, (found, side: string) =>
    found.slice(0, found.toLowerCase().indexOf(side.toLowerCase())),
  );
}
