/**
 * Projections of a map: Mercator, or around a pole a stereographic one. Both keep shapes. Places on the plane are
 * in radii of the earth, upward and to the right.
 */

/** WGS 84, meters. */
export const EARTH = 6_378_137;

export interface MapView {
  readonly kind: 'mercator' | 'north' | 'south';
  /** The meridian on which north is up, degrees; 0 for Mercator. */
  readonly up: number;
  /** The place in the middle. */
  readonly x: number;
  readonly y: number;
  /** Pixels of a radius. */
  readonly scale: number;
}

/** Longitude and latitude in degrees. */
export type LonLat = readonly [longitude: number, latitude: number];
type Point = readonly [x: number, y: number];

/** Mercator's map ends here: it is a square. */
export const MERCATOR_END = 85.051_128_78;
/** Latitudes at which the projection changes; apart, so that it does not change to and fro. */
const TO_POLAR = 84;
const TO_MERCATOR = 78;
/** Half a centimeter a pixel. */
const MAX_SCALE = EARTH / 0.005;
/** The whole earth in 250 pixels. */
const MIN_SCALE = 40;
const START: MapView = { kind: 'mercator', up: 0, x: 0, y: 0, scale: 80 };

/** Returns the place on the plane. Longitudes beyond 180 go on to the right in Mercator. */
export function project(view: Pick<MapView, 'kind' | 'up'>, [longitude, latitude]: LonLat): Point {
  if (view.kind === 'mercator') {
    const bounded = Math.min(89.9, Math.max(-89.9, latitude));
    return [radians(longitude), Math.asinh(Math.tan(radians(bounded)))];
  }
  const sign = view.kind === 'north' ? 1 : -1;
  const distance = 2 * Math.tan(Math.PI / 4 - (sign * radians(latitude)) / 2);
  const angle = radians(longitude - view.up);
  return [distance * Math.sin(angle), -sign * distance * Math.cos(angle)];
}

/** Returns longitude, from -180 to 180 except in Mercator, and latitude. */
export function unproject(view: Pick<MapView, 'kind' | 'up'>, [x, y]: Point): LonLat {
  if (view.kind === 'mercator') return [degrees(x), degrees(Math.atan(Math.sinh(y)))];
  const sign = view.kind === 'north' ? 1 : -1;
  const latitude = sign * (90 - 2 * degrees(Math.atan(Math.hypot(x, y) / 2)));
  return [wrapped(view.up + degrees(Math.atan2(x, -sign * y))), latitude];
}

/** Returns how many meters a pixel is wide in the middle. */
export function metersPerPixel(view: MapView): number {
  const latitude = radians(unproject(view, [view.x, view.y])[1]);
  const share = view.kind === 'mercator' ? Math.cos(latitude) : (1 + Math.sin(Math.abs(latitude))) / 2;
  return (EARTH * share) / view.scale;
}

/** Moves the map with the pointer, in pixels. */
export function panned(view: MapView, right: number, down: number): MapView {
  return settled({ ...view, x: view.x - right / view.scale, y: view.y + down / view.scale });
}

/** Zooms; the place so many pixels to the right of the middle and below it stays. */
export function zoomed(view: MapView, factor: number, right = 0, down = 0): MapView {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, view.scale * factor));
  const share = 1 / view.scale - 1 / scale;
  return settled({ ...view, x: view.x + right * share, y: view.y - down * share, scale });
}

/** Puts a place into the middle. */
export function centered(view: MapView, place: LonLat): MapView {
  const [x, y] = project(view, place);
  return settled({ ...view, x, y });
}

/** Shows all places, with a margin. Longitudes of one line go on beyond 180. */
export function fitted(lines: readonly (readonly LonLat[])[], width: number, height: number): MapView {
  const places = aligned(lines).flat();
  if (places.length === 0) return START;
  const north = places.reduce((most, [, latitude]) => Math.max(most, latitude), -90);
  const south = places.reduce((least, [, latitude]) => Math.min(least, latitude), 90);
  const kind = north > TO_POLAR ? 'north' : south < -TO_POLAR ? 'south' : 'mercator';
  const up = kind === 'mercator' ? 0 : wrapped(places[0][0]);
  const points = places.map((place) => project({ kind, up }, place));
  const [left, right] = extent(points, 0);
  const [bottom, top] = extent(points, 1);
  const [x, y] = [(left + right) / 2, (bottom + top) / 2];
  // A place alone gets its surroundings; a track gets no closer than its receiver is exact.
  const isAlone = left === right && bottom === top;
  const least =
    (isAlone ? 200 : 10) /
    EARTH /
    Math.max(0.1, Math.cos(radians(kind === 'mercator' ? (north + south) / 2 : 0)));
  const share = 1.25;
  const scale = Math.min(
    width / Math.max(least, (right - left) * share),
    height / Math.max(least, (top - bottom) * share),
  );
  return settled({ kind, up, x, y, scale: Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale)) });
}

/** A longitude from -180 to 180. */
export function wrapped(longitude: number): number {
  const found = ((((longitude + 180) % 360) + 360) % 360) - 180;
  return found === -180 && longitude > 0 ? 180 : found;
}

/** Whole turns by which a line between two places of the plane is drawn to be seen, a few at most. */
export function turnsOf(view: MapView, width: number, [left, right]: Point): number[] {
  if (view.kind !== 'mercator') return [0];
  const turn = 2 * Math.PI;
  const half = width / view.scale / 2;
  const first = Math.ceil((view.x - half - right) / turn);
  const last = Math.floor((view.x + half - left) / turn);
  return Array.from({ length: Math.min(4, Math.max(0, last - first + 1)) }, (_, index) => first + index);
}

/** Moves lines by whole turns next to the first one. */
function aligned(lines: readonly (readonly LonLat[])[]): (readonly LonLat[])[] {
  const first = lines.find((line) => line.length > 0)?.[0][0] ?? 0;
  return lines.map((line) => {
    const turns = line.length === 0 ? 0 : Math.round((first - line[0][0]) / 360);
    return turns === 0
      ? line
      : line.map(([longitude, latitude]): LonLat => [longitude + 360 * turns, latitude]);
  });
}

/** Keeps the middle on the earth, and changes the projection where the other one is better. */
function settled(view: MapView): MapView {
  const [longitude, latitude] = unproject(view, [view.x, view.y]);
  if (view.kind === 'mercator' && Math.abs(latitude) > TO_POLAR) {
    const kind = latitude > 0 ? 'north' : 'south';
    return changed(view, kind, wrapped(longitude), [longitude, latitude]);
  }
  if (view.kind !== 'mercator' && Math.abs(latitude) < TO_MERCATOR)
    return changed(view, 'mercator', 0, [longitude, latitude]);
  if (view.kind !== 'mercator' || Math.abs(view.x) <= Math.PI) return view;
  return { ...view, x: view.x - 2 * Math.PI * Math.round(view.x / (2 * Math.PI)) };
}

function changed(view: MapView, kind: MapView['kind'], up: number, place: LonLat): MapView {
  const [x, y] = project({ kind, up }, place);
  const next = { kind, up, x, y, scale: view.scale };
  const scale = (view.scale * metersPerPixel(next)) / metersPerPixel(view);
  return { ...next, scale: Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale)) };
}

function extent(points: readonly Point[], axis: 0 | 1): Point {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const point of points) {
    if (point[axis] < low) low = point[axis];
    if (point[axis] > high) high = point[axis];
  }
  return [low, high];
}

function radians(angle: number): number {
  return (angle * Math.PI) / 180;
}

function degrees(angle: number): number {
  return (angle * 180) / Math.PI;
}
