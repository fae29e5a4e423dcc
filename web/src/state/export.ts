import { activeDock } from '../layout/active_dock.ts';
import { allPictures, type Picture, pictureOf } from '../panels/exports.ts';
import { csv, fileName, png, saveFile, svg, svgFile } from '../panels/save_file.ts';
import { titleOf } from '../panels/title.ts';
import { strings } from '../strings.ts';
import { notify } from './notice.ts';
import { panels } from './panels.ts';

/** The active panel as a picture: PNG, and SVG. */
export async function exportPicture(): Promise<void> {
  const found = chosen(({ canvas, svg: drawing }) => canvas !== undefined || drawing !== undefined);
  if (!found) {
    notify(strings.notice.nothing);
    return;
  }
  const [id, picture] = found;
  const ground = getComputedStyle(document.documentElement).getPropertyValue('--panel').trim();
  const image = await png(picture, ground);
  if (image) saveFile(fileName(titleFor(id), 'png'), image);
  const drawing = picture.svg?.();
  const vector = picture.vector?.();
  if (vector) saveFile(fileName(titleFor(id), 'svg'), svgFile(vector));
  else if (drawing) saveFile(fileName(titleFor(id), 'svg'), svg(drawing));
}

/** The content of the active panel as a table. */
export function exportCsv(): void {
  const found = chosen(({ table }) => table !== undefined);
  if (!found) {
    notify(strings.notice.nothing);
    return;
  }
  const [id, picture] = found;
  saveFile(fileName(titleFor(id), 'csv'), csv(picture.table?.() ?? []));
}

/** Returns the active panel, or else the first one that has the requested format. */
function chosen(has: (picture: Picture) => boolean): [string, Picture] | undefined {
  const active = activeDock()?.activeId;
  const picture = active === undefined ? undefined : pictureOf(active);
  if (active !== undefined && picture && has(picture)) return [active, picture];
  return [...allPictures()].find(([, other]) => has(other));
}

function titleFor(id: string): string {
  const spec = panels.peek().find((candidate) => candidate.id === id);
  return spec ? titleOf(spec) : id;
}
