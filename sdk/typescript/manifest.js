// Makes `dist` a package of its own, of JavaScript and declarations: the sources are for this workspace, which compiles them itself.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';

const at = (path) => new URL(path, import.meta.url);
const { name, version, description, license, type, sideEffects } = JSON.parse(
  readFileSync(at('package.json'), 'utf8'),
);
const exports = { '.': { types: './index.d.ts', default: './index.js' } };
const manifest = { name, private: true, version, description, license, type, sideEffects, exports };
writeFileSync(at('dist/package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
copyFileSync(at('../../LICENSE'), at('dist/LICENSE'));
