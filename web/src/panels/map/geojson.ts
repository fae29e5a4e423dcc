import { type Fields, isFields } from '../../wire/fields.ts';
import { isAngle, isLine, MAX_KEPT, MAX_POINTS, MAX_SHAPES, named, type Shape } from './shapes.ts';

/** Largest file in bytes. */
export const MAX_FILE = 256 * 1024;
/** Depth of geometry collections. */
const MAX_DEPTH = 4;
/** Decimals of a degree: 10 cm. */
const DIGITS = 1e6;

export type ShapesRead =
  | { readonly shapes: readonly Shape[] }
  | { readonly problem: 'json' | 'geojson' | 'empty' | 'many' | 'large' };

/** Reads a text of GeoJSON (RFC 7946): geometries with their names, and nothing else. */
export function readGeoJson(text: string): ShapesRead {
  if (text.length > MAX_FILE) return { problem: 'large' };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: 'json' };
  }
  const reader = new Reader();
  if (!reader.object(json, undefined, 0)) return { problem: 'geojson' };
  if (reader.isFull) return { problem: 'many' };
  if (reader.shapes.length === 0) return { problem: 'empty' };
  return JSON.stringify(reader.shapes).length > MAX_KEPT ? { problem: 'large' } : { shapes: reader.shapes };
}

class Reader {
  readonly shapes: Shape[] = [];
  /** Whether there was more than a map takes. */
  isFull = false;
  private points = 0;

  /** Takes a feature, several, or a geometry; false if it is none of them. */
  object(json: unknown, name: unknown, depth: number): boolean {
    if (!isFields(json) || depth > MAX_DEPTH) return false;
    switch (json.type) {
      case 'FeatureCollection':
        return this.all(json.features, (feature) => this.object(feature, undefined, depth + 1));
      case 'Feature':
        // A feature without a place is valid.
        return json.geometry === null || this.object(json.geometry, nameIn(json), depth + 1);
      case 'GeometryCollection':
        return this.all(json.geometries, (geometry) => this.object(geometry, name, depth + 1));
      default:
        return this.geometry(json, name);
    }
  }

  private geometry({ type, coordinates }: Fields, name: unknown): boolean {
    switch (type) {
      case 'Point':
        return this.add('point', [[coordinates]], name);
      case 'MultiPoint':
        return this.all(coordinates, (point) => this.add('point', [[point]], name));
      case 'LineString':
        return this.add('line', [coordinates], name);
      case 'MultiLineString':
        return this.all(coordinates, (line) => this.add('line', [line], name));
      case 'Polygon':
        return this.add('area', coordinates, name);
      case 'MultiPolygon':
        return this.all(coordinates, (area) => this.add('area', area, name));
      default:
        return false;
    }
  }

  private all(list: unknown, take: (entry: unknown) => boolean): boolean {
    return Array.isArray(list) && list.every((entry) => this.isFull || take(entry));
  }

  private add(kind: Shape['kind'], lines: unknown, name: unknown): boolean {
    if (!Array.isArray(lines) || lines.length === 0) return false;
    const read: number[][] = [];
    for (const line of lines) {
      if (!Array.isArray(line)) return false;
      this.points += line.length;
      if (this.points > MAX_POINTS || this.shapes.length >= MAX_SHAPES) {
        this.isFull = true;
        return true;
      }
      const places = placesIn(line);
      if (!isLine(places, kind)) return false;
      read.push(places);
    }
    this.shapes.push({ kind, lines: read, ...named(name) });
    return true;
  }
}

/** Longitudes and latitudes in turn; empty if one is none. Longitudes go on beyond 180 where a line crosses it. */
function placesIn(line: readonly unknown[]): number[] {
  const found: number[] = [];
  for (const place of line) {
    if (!Array.isArray(place) || !isAngle(place[0], 180) || !isAngle(place[1], 90)) return [];
    const [longitude, latitude] = place as [number, number];
    const before = found.length > 0 ? found[found.length - 2] : longitude;
    const turns = Math.abs(longitude - before) > 180 ? Math.round((before - longitude) / 360) : 0;
    const continued = longitude + 360 * turns;
    found.push(rounded(Math.abs(continued) <= 540 ? continued : longitude), rounded(latitude));
  }
  return found;
}

function rounded(angle: number): number {
  return Math.round(angle * DIGITS) / DIGITS;
}

function nameIn({ properties, id }: Fields): unknown {
  const name = isFields(properties) ? (properties.name ?? properties.title) : undefined;
  return name ?? id;
}
