import type { DescribedLine } from './lines.ts';

/** What a color of a drawing stands for. */
export interface LegendEntry {
  readonly name: string;
  readonly color: string;
}

/** The formats that a panel can export: a drawing, a table. */
export interface Picture {
  svg?(): SVGSVGElement | null;
  /** A drawing that needs no style sheet. */
  vector?(): SVGSVGElement;
  legend?(): readonly LegendEntry[];
  /** The lines as they are drawn. */
  lines?(): readonly DescribedLine[];
  /** Units of the samples. */
  units?(): readonly (string | undefined)[];
  /** What the rows of the table are, if they are not samples. */
  about?(): string;
  /** Rows of cells, the first with names. */
  table?(): readonly (readonly string[])[];
}

/** Panels on the screen that can be exported. */
const pictures = new Map<string, Picture>();

export function registerPicture(id: string, picture: Picture): () => void {
  pictures.set(id, picture);
  return () => {
    if (pictures.get(id) === picture) pictures.delete(id);
  };
}

export function pictureOf(id: string): Picture | undefined {
  return pictures.get(id);
}

export function allPictures(): ReadonlyMap<string, Picture> {
  return pictures;
}
