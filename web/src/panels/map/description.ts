import { lazy } from '../../components/lazy.tsx';
import { targetsIn } from '../../expressions/resolve.ts';
import { findPosition } from '../../series/positions.ts';
import { nameOf } from '../../state/names.ts';
import { isFields, valuesOf } from '../../wire/fields.ts';
import { describePanel } from '../shared/description.ts';
import { parseExpressions, parseTrail, usesTarget, withoutSource } from '../shared/expressions.ts';
import { parseName, parseTarget, present } from '../shared/parse.ts';
import { parseShapes, type Shape } from './shapes.ts';
import { isTileAddress } from './tile_address.ts';
import { colorsOf, MAX_TRACKS, type MapTrack } from './tracks.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** Where instances were in the time shown. */
    readonly map: {
      readonly tracks: readonly MapTrack[];
      /** An expression of the first track, which colors all. */
      readonly color?: string;
      /** Seconds before the end of the time shown that are drawn; all of it without. */
      readonly trail?: number;
      /** Number of the track that stays in the middle. */
      readonly follow?: number;
      readonly shapes?: readonly Shape[];
      /** Address of pictures of the ground. */
      readonly tiles?: string;
    };
  }
}

export const map = describePanel<'map'>({
  kind: 'map',
  name: 'map',
  Panel: lazy(async () => (await import('./map_panel.tsx')).MapPanel),
  parse(json) {
    const tracks = valuesOf(json.tracks)
      .slice(0, MAX_TRACKS)
      .flatMap((entry) => parseTrack(entry) ?? []);
    const [color] = parseExpressions([json.color]);
    if (tracks.length === 0) return undefined;
    return {
      kind: 'map',
      tracks,
      ...present('color', color),
      ...present('trail', parseTrail(json.trail)),
      ...present(
        'follow',
        [...tracks.keys()].find((index) => index === json.follow),
      ),
      ...present('shapes', parseShapes(json.shapes)),
      ...present('tiles', isTileAddress(json.tiles) ? json.tiles : undefined),
    };
  },
  targets: (content) => [
    ...content.tracks.map(({ target }) => target),
    ...colorsOf(content).flatMap(targetsIn),
  ],
  without(content, key) {
    const tracks = withoutSource(content.tracks, key);
    const { color, follow: _, ...rest } = content;
    if (tracks.length === 0) return undefined;
    // The color is one of the first track.
    const isKept = color !== undefined && !usesTarget(color, key);
    return { ...rest, tracks, ...(isKept && { color }) };
  },
  title: ({ tracks }) => `${tracks.map(({ target }) => nameOf(target)).join(', ')} \u00b7 map`,
  choices: [
    {
      name: 'map',
      label: 'Map',
      about: 'Where instances with latitude and longitude were, as tracks.',
      from: 'instances',
      needs: 'a latitude and a longitude',
      suits: (schema) => findPosition(schema?.metrics ?? []) !== undefined,
      build(targets, schemaOf) {
        const tracks = targets.flatMap((target) => {
          const position = findPosition(schemaOf(target)?.metrics ?? []);
          return position ? { target, ...position } : [];
        });
        return tracks.length === 0 ? [] : [{ kind: 'map', tracks: tracks.slice(0, MAX_TRACKS) }];
      },
    },
  ],
});

function parseTrack(json: unknown): MapTrack | undefined {
  if (!isFields(json)) return undefined;
  const target = parseTarget(json.target);
  const [latitude, longitude] = [parseName(json.latitude), parseName(json.longitude)];
  if (!target || latitude === undefined || longitude === undefined) return undefined;
  return { target, latitude, longitude, ...present('heading', parseName(json.heading)) };
}
