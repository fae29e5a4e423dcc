import {
  type LonLat,
  type MapView,
  MERCATOR_END,
  metersPerPixel,
  project,
  unproject,
  wrapped,
} from './projection.ts';

/** A line of equal longitude or latitude, in pixels from the upper left, and its name. */
export interface GridLine {
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly label: string;
  /** Where the label stands: the lower end of a meridian, the left end of a parallel. */
  readonly at: readonly [x: number, y: number];
  readonly isMeridian: boolean;
}

const WIDE = [90, 45, 30, 15, 10, 5];
/** Distances of lines in degrees, largest first. */
const STEPS = [
  ...WIDE,
  ...Array.from({ length: 8 }, (_, power) => [2, 1, 0.5].map((digit) => digit / 10 ** power)).flat(),
];
/** Most lines of a direction. */
const MAX_LINES = 72;
const PIXELS = 110;
/** Places on each side of the drawing at which it is asked what it shows. */
const SIDE = 24;
const ARC = 48;

/** The lines of longitude and latitude in a drawing. */
export function graticule(view: MapView, width: number, height: number): GridLine[] {
  const shown = bounds(view, width, height);
  const [, latitude] = unproject(view, [view.x, view.y]);
  const degree = (Math.PI / 180) * 6_378_137;
  const perPixel = metersPerPixel(view) / degree;
  const across = stepFor(perPixel * PIXELS);
  const nearPole = Math.max(0.02, Math.cos((latitude * Math.PI) / 180));
  const along = Math.min(view.kind === 'mercator' ? 90 : 30, stepFor((perPixel * PIXELS * 1.2) / nearPole));
  const place = ([x, y]: readonly [number, number]): readonly [number, number] => [
    width / 2 + (x - view.x) * view.scale,
    height / 2 - (y - view.y) * view.scale,
  ];
  const at = (longitude: number, north: number) => place(project(view, [longitude, north]));
  return [
    ...meridians(view, shown, along, at, [width, height]),
    ...parallels(view, shown, across, at, [width, height]),
  ];
}

interface Bounds {
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

type At = (longitude: number, latitude: number) => readonly [x: number, y: number];

function meridians(view: MapView, shown: Bounds, step: number, at: At, size: readonly number[]): GridLine[] {
  // At a pole only some of them end there: more would be a spot.
  const ends = view.kind === 'mercator' ? 0 : Math.min(step / 4, 0.5);
  const top = view.kind === 'north' && shown.north === 90 ? 90 - ends : shown.north;
  const bottom = view.kind === 'south' && shown.south === -90 ? -90 + ends : shown.south;
  return multiples(shown.west, shown.east, step).map((longitude) => {
    const points = [at(longitude, bottom), at(longitude, top)];
    return {
      points,
      label: formatLongitude(longitude, step),
      at: edgeOf(points, size),
      isMeridian: true,
    };
  });
}

function parallels(view: MapView, shown: Bounds, step: number, at: At, size: readonly number[]): GridLine[] {
  const [longitude] = unproject(view, [view.x, view.y]);
  return multiples(shown.south, shown.north, step).flatMap((latitude) => {
    if (Math.abs(latitude) >= 90) return [];
    const pieces = view.kind === 'mercator' ? 1 : ARC;
    const points = Array.from({ length: pieces + 1 }, (_, index) =>
      at(shown.west + ((shown.east - shown.west) * index) / pieces, latitude),
    );
    // Arcs carry their names above the middle, where no meridian has its own.
    const label = view.kind === 'mercator' ? edgeOf(points, size) : at(longitude, latitude);
    return { points, label: formatLatitude(latitude, step), at: label, isMeridian: false };
  });
}

/** What a drawing shows of the earth; all longitudes if it shows a pole. */
function bounds(view: MapView, width: number, height: number): Bounds {
  const [right, up] = [width / 2 / view.scale, height / 2 / view.scale];
  const edge: LonLat[] = [];
  for (let index = 0; index <= SIDE; index++) {
    const share = (2 * index) / SIDE - 1;
    for (const [x, y] of [
      [share, 1],
      [share, -1],
      [1, share],
      [-1, share],
    ])
      edge.push(unproject(view, [view.x + x * right, view.y + y * up]));
  }
  const latitudes = edge.map(([, latitude]) => latitude);
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const hasPole = view.kind !== 'mercator' && Math.abs(view.x) <= right && Math.abs(view.y) <= up;
  if (hasPole)
    return view.kind === 'north'
      ? { west: -180, east: 180, south, north: 90 }
      : { west: -180, east: 180, south: -90, north };
  const [middle] = unproject(view, [view.x, view.y]);
  const from = edge.map(([longitude]) =>
    view.kind === 'mercator' ? longitude : middle + wrapped(longitude - middle),
  );
  return {
    west: Math.min(...from),
    east: Math.max(...from),
    south: Math.max(-MERCATOR_END * (view.kind === 'mercator' ? 1 : 2), south),
    north: Math.min(MERCATOR_END * (view.kind === 'mercator' ? 1 : 2), north),
  };
}

function multiples(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.min(MAX_LINES, Math.floor(to / step + 1e-9) - first + 1);
  const isRound = to - from >= 360 && step * count > 360;
  // Both ends of a whole circle are one line.
  return Array.from(
    { length: Math.max(0, isRound ? count - 1 : count) },
    (_, index) => (first + index) * step,
  );
}

/** The smallest step that is not smaller than wanted. */
function stepFor(wanted: number): number {
  return STEPS.findLast((step) => step >= wanted) ?? STEPS[0];
}

/** Where a straight line leaves the drawing: below or on the left. */
function edgeOf(points: readonly (readonly [number, number])[], [width, height]: readonly number[]) {
  const [[fromX, fromY], [toX, toY]] = [points[0], points[points.length - 1]];
  const [x, y] = [Math.min(width, Math.max(0, fromX)), Math.min(height, Math.max(0, fromY))];
  if (fromY === y && fromX === x) return [fromX, fromY] as const;
  // Along the line to the drawing.
  let least = 0;
  if (fromY !== y && toY !== fromY) least = (y - fromY) / (toY - fromY);
  if (fromX !== x && toX !== fromX) least = Math.max(least, (x - fromX) / (toX - fromX));
  return [fromX + least * (toX - fromX), fromY + least * (toY - fromY)] as const;
}

export function formatLatitude(latitude: number, step: number): string {
  return format(latitude, step, latitude === 0 ? '' : latitude > 0 ? 'N' : 'S');
}

export function formatLongitude(longitude: number, step: number): string {
  const within = wrapped(longitude);
  const isAlone = within === 0 || Math.abs(within) === 180;
  return format(within, step, isAlone ? '' : within > 0 ? 'E' : 'W');
}

function format(angle: number, step: number, side: string): string {
  const decimals = Math.max(0, Math.min(8, Math.ceil(-Math.log10(step) - 1e-9)));
  return `${Math.abs(angle).toFixed(decimals)}\u00b0${side === '' ? '' : `\u202f${side}`}`;
}

/** A round length and how many pixels it has, about as many as wanted at most. */
export function scaleBar(view: MapView, wanted: number): { readonly pixels: number; readonly label: string } {
  const perPixel = metersPerPixel(view);
  const most = perPixel * wanted;
  const power = 10 ** Math.floor(Math.log10(most));
  const meters = [5, 2, 1].map((digit) => digit * power).find((length) => length <= most) ?? power;
  const label =
    meters >= 1000
      ? `${meters / 1000}\u202fkm`
      : meters >= 1
        ? `${meters}\u202fm`
        : `${Math.round(meters * 100)}\u202fcm`;
  return { pixels: meters / perPixel, label };
}
