import { csv, fileName, png, saveFile, styled, svgFile } from '../charts/save_file.ts';
import { formatCursor, formatDay } from '../format/time.ts';
import { zoneName } from '../format/zone.ts';
import { allPictures, type Picture, pictureOf } from '../panels/shared/exports.ts';
import { framed } from '../panels/shared/svg_frame.ts';
import { activeDock } from '../state/active_dock.ts';
import { notify } from '../state/notice.ts';
import { targetsOf } from '../state/panel_kinds.ts';
import { titleOf } from '../state/panel_titles.ts';
import { panels } from '../state/panels.ts';
import { ends } from '../state/time.ts';
import { strings } from '../strings/strings.ts';

/** The active panel as a picture: PNG, and SVG. */
export async function exportPicture(): Promise<void> {
  const found = chosen(({ svg, vector }) => svg !== undefined || vector !== undefined);
  const drawing = found && drawn(...found);
  if (!found || !drawing) {
    notify(strings.notice.nothing);
    return;
  }
  const title = titleFor(found[0]);
  const image = await png(drawing);
  if (image) saveFile(fileName(title, 'png'), image);
  saveFile(fileName(title, 'svg'), svgFile(drawing));
}

/** Draws a panel with what the page says around it: title, nodes, time and legend. */
function drawn(id: string, picture: Picture): SVGSVGElement | undefined {
  const shown = picture.svg?.();
  const drawing = picture.vector?.() ?? (shown && styled(shown));
  if (!drawing) return undefined;
  // Copies are not on the screen and have no size of their own.
  const { width, height } = shown?.getBoundingClientRect() ?? {
    width: Number.parseFloat(drawing.getAttribute('width') ?? '0'),
    height: Number.parseFloat(drawing.getAttribute('height') ?? '0'),
  };
  const caption = { title: titleFor(id), facts: factsOf(id), legend: picture.legend?.() ?? [] };
  return framed(drawing, width, height, caption);
}

/** The nodes of a panel and the time that it shows. */
function factsOf(id: string): string {
  const spec = panels.peek().find((candidate) => candidate.id === id);
  const nodes = [...new Set(spec ? targetsOf(spec).map(({ node }) => node) : [])].join(', ');
  const [from, to] = ends();
  const time = `${formatDay(from).slice(0, 10)} ${formatCursor(from, to - from, from)} \u2013 ${formatCursor(to, to - from, from)} ${zoneName()}`;
  return [nodes, time].filter(Boolean).join(' \u00b7 ');
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
  const about = picture.about?.();
  if (about !== undefined) notify(about);
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
