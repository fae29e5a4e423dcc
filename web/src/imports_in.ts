import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** For tests: the files that each file of a folder imports, those for their types alone included. */
export function importsIn(folder: string): Map<string, string[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
      return [
        file,
        importedFiles.map(({ fileName }) => join(dirname(file), fileName)).filter((to) => known.has(to)),
      ];
    }),
  );
}
