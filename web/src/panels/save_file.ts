import type { Picture } from './exports.ts';

/** Downloads a file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Returns a name that every file system accepts. */
export function fileName(title: string, ending: string): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const plain = title
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[-.]+|-+$/g, '')
    .slice(0, 60);
  return `${plain || 'oasis'}-${time}.${ending}`;
}

/** Formats rows as CSV (RFC 4180). A cell that a spreadsheet would evaluate as a formula is marked as text. */
export function csv(rows: readonly (readonly string[])[]): Blob {
  const lines = rows.map((row) => row.map(cell).join(','));
  return new Blob([`${lines.join('\r\n')}\r\n`], { type: 'text/csv' });
}

function cell(text: string): string {
  const isNumber = text !== '' && Number.isFinite(Number(text));
  const safe = !isNumber && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns a panel's content as a picture with the page's background. */
export async function png(picture: Picture, ground: string): Promise<Blob | undefined> {
  const source = picture.canvas?.();
  if (source) return flattened(source, source.width, source.height, ground);
  const drawing = picture.svg?.();
  if (!drawing) return undefined;
  const { width, height } = drawing.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await svg(drawing).text())}`;
  await image.decode();
  return flattened(image, width * devicePixelRatio, height * devicePixelRatio, ground);
}

function flattened(
  source: CanvasImageSource,
  width: number,
  height: number,
  ground: string,
): Promise<Blob | undefined> {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.round(width), Math.round(height)];
  const ctx = canvas.getContext('2d');
  if (!ctx) return Promise.resolve(undefined);
  ctx.fillStyle = ground;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(source, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined), 'image/png'));
}

const COPIED = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'font-size',
  'font-family',
  'font-weight',
  'text-anchor',
  'dominant-baseline',
];

/** Copies the colors and fonts of the style sheets into a drawing, so that it needs none. */
export function svg(drawing: SVGSVGElement): Blob {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const originals = [drawing, ...drawing.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((element, index) => {
    const style = getComputedStyle(originals[index]);
    for (const name of COPIED) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, value);
    }
    element.removeAttribute('class');
  });
  const { width, height } = drawing.getBoundingClientRect();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  return svgFile(copy);
}

/** A drawing with its styles inlined. */
export function svgFile(drawing: SVGSVGElement): Blob {
  return new Blob([new XMLSerializer().serializeToString(drawing)], { type: 'image/svg+xml' });
}
