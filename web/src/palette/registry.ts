import type { PaletteSource } from './entry.ts';

/** The sources of the palette. Any room of the page can add its own; the palette itself is loaded when it opens. */

const sources = new Map<string, PaletteSource>();

/** Adds a source, or replaces the one of the same name. Returns a function that removes it. */
export function addPaletteSource(source: PaletteSource): () => void {
  sources.set(source.name, source);
  return () => {
    if (sources.get(source.name) === source) sources.delete(source.name);
  };
}

export function paletteSources(): readonly PaletteSource[] {
  return [...sources.values()];
}
