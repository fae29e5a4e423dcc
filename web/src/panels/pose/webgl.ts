/** Creates a context of WebGL 2; undefined if the browser has none for this canvas. */
export function contextOf(canvas: HTMLCanvasElement): WebGL2RenderingContext | undefined {
  return canvas.getContext('webgl2', { antialias: true, alpha: true }) ?? undefined;
}
