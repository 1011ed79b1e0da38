// SPDX-License-Identifier: Apache-2.0 OR MIT

// How much JavaScript the first page costs, gzipped: what index.html loads and what the page `Now` adds.
// Fails beyond the limit.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIMIT = 150_000;
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
for (const name of names.filter((name) => name.startsWith('Now-'))) needed(name, first);

const total = (list) => [...list].reduce((sum, name) => sum + packed(name), 0);
for (const name of names)
  console.log(`${String(packed(name)).padStart(8)}  ${first.has(name) ? 'first' : '     '}  ${name}`);
console.log(`${String(total(first)).padStart(8)}  first load, of ${LIMIT}`);
console.log(`${String(total(names)).padStart(8)}  all`);
if (total(first) > LIMIT) process.exit(1);
