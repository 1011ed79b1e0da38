// SPDX-License-Identifier: Apache-2.0 OR MIT

// Checks the gzipped size of the JavaScript and the fonts of the first page: the files of index.html, which contain the
// page `Now`. Fails above the limit.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAX_GZIP_BYTES = 120_000;
const dist = fileURLToPath(new URL('../dist', import.meta.url));
const assets = join(dist, 'assets');

const packed = (name) =>
  statSync(existsSync(join(assets, `${name}.gz`)) ? join(assets, `${name}.gz`) : join(assets, name)).size;
const names = readdirSync(assets).filter((name) => name.endsWith('.js'));

/** A file and all that it imports before it runs. */
function needed(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(join(assets, name), 'utf8');
  for (const [, imported] of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) needed(imported, found);
  return found;
}

const first = new Set();
for (const [, name] of readFileSync(join(dist, 'index.html'), 'utf8').matchAll(/assets\/([\w.-]+\.js)/g))
  needed(name, first);

for (const name of readdirSync(assets).filter((name) => name.endsWith('.woff2'))) {
  names.push(name);
  first.add(name);
}

const total = (list) => [...list].reduce((sum, name) => sum + packed(name), 0);
for (const name of names)
  console.log(`${String(packed(name)).padStart(8)}  ${first.has(name) ? 'first' : '     '}  ${name}`);
console.log(`${String(total(first)).padStart(8)}  first load, of ${MAX_GZIP_BYTES}`);
console.log(`${String(total(names)).padStart(8)}  all`);
if (total(first) > MAX_GZIP_BYTES) process.exit(1);
