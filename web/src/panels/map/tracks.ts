import { parseKnown } from '../../expressions/resolve.ts';
import { formatExpression, formatReference, mapReferences } from '../../expressions/syntax.ts';
import type { PositionMetrics } from '../../series/positions.ts';
import type { Target } from '../../wire/target.ts';

/** An instance on a map. */
export interface MapTrack extends PositionMetrics {
  readonly target: Target;
}

/** Most instances on a map. */
export const MAX_TRACKS = 32;

/**
 * Returns the expression that colors a track: the same of each node and instance. A metric of the first track means that
 * of every track; another instance of its node that of their nodes.
 */
export function colorOf(color: string, tracks: readonly MapTrack[], track: MapTrack): string {
  const syntax = parseKnown(color);
  if (!syntax) return color;
  const to = track.target;
  const changed = mapReferences(syntax, (reference) => {
    const ofNode = tracks.filter(({ target }) => target.node === reference.node);
    if (ofNode.length === 0) return reference;
    const isTrack = ofNode.some(({ target }) => target.instance === reference.instance);
    return { ...reference, node: to.node, instance: isTrack ? to.instance : reference.instance };
  });
  return formatExpression(changed);
}

/** The expression of a metric of the first track, which colors all. */
export function colorByMetric([first]: readonly MapTrack[], metric: string): string {
  return formatReference({ node: first.target.node, instance: first.target.instance, metric });
}

/** The expressions that color the tracks of a map, in their order; empty without. */
export function colorsOf(map: {
  readonly tracks: readonly MapTrack[];
  readonly color?: string | undefined;
}): string[] {
  const { tracks, color } = map;
  return color === undefined ? [] : tracks.map((track) => colorOf(color, tracks, track));
}
