// Makes `dist` a package of its own, of JavaScript and declarations: the sources are for this workspace, which compiles them itself.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';

const at = (path) => new URL(path, import.meta.url);
const { name, version, description, keywords, license, type, engines, sideEffects } = JSON.parse(
  readFileSync(at('package.json'), 'utf8'),
);
const types = './index.d.ts';
const exports = { '.': { types, default: './index.js' }, './package.json': './package.json' };
// `types` again for tools that do not read `exports`.
const manifest = {
  name,
  version,
  description,
  keywords,
  license,
  type,
  engines,
  sideEffects,
  exports,
  types,
};
writeFileSync(at('dist/package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
copyFileSync(at('../../LICENSE'), at('dist/LICENSE'));
copyFileSync(at('README.md'), at('dist/README.md'));
