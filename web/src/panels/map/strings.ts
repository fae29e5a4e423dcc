import type { ShapesRead } from './geojson.ts';

type Problem = Extract<ShapesRead, { problem: string }>['problem'];

/** The map. Its code is loaded when the first one is shown. */
export const mapStrings = {
  about: (names: string) =>
    `Map of ${names}. Drag or arrows: move. Wheel, plus or minus: zoom. 0: show all tracks.`,
  empty: 'No position in the time shown.',
  waiting: (names: string) => `Waiting for ${names}\u2026`,
  failed: (name: string, problem: string) => `${name}: ${problem}`,
  trail: 'Trail',
  whole: 'all',
  color: 'Color',
  time: 'time',
  expression: 'expression\u2026',
  changeColor: 'Change the expression that colors the tracks',
  done: 'Done',
  cancel: 'Cancel',
  colorBar: 'Colors of values, least to greatest',
  follow: 'Follow',
  nobody: 'none',
  fit: 'Show all',
  fitTip: 'Show all tracks, and keep them in sight (0)',
  position: (latitude: string, longitude: string) => `${latitude}, ${longitude}`,
  heading: (heading: string) => `heading ${heading}`,
  noPosition: 'no position',
  ground: 'Ground',
  load: 'Add GeoJSON',
  remove: (count: string, isOne: boolean) => `Remove ${count} ${isOne ? 'shape' : 'shapes'}`,
  loaded: (name: string, count: string) => `${name}: ${count} shapes added. They are kept in the layout.`,
  problems: {
    json: 'not JSON',
    geojson: 'not GeoJSON with longitudes and latitudes in degrees (RFC 7946)',
    empty: 'no geometries in it',
    many: 'too much: a map takes 2,000 shapes with 20,000 points',
    large: 'too large: a file has at most 256 kB, and all shapes of a map 96 kB',
  } satisfies Record<Problem, string>,
  notAdded: (name: string, problem: string) => `${name} was not added: ${problem}`,
  tiles: 'Address of tiles',
  tilesExample: '/tiles/{z}/{x}/{y}.png',
  tilesTip:
    'A path of this server with {z}, {x} and {y}, or an address of another server that the DAC allows (tile_origins).',
  badTiles:
    'Write a path such as /tiles/{z}/{x}/{y}.png, or an address such as https://tile.example.org/{z}/{x}/{y}.png.',
  tilesRefused: (origin: string) =>
    `This DAC does not allow pictures from ${origin}. Add it to oasis.toml, below [doors]: tile_origins = ["${origin}"]`,
  tilesFailed: (address: string) =>
    `No tile from ${address}: does the server, or the reverse proxy in front of it, have it?`,
  table: { time: 'time', instance: 'instance', latitude: 'latitude', longitude: 'longitude', value: 'value' },
};
