// SPDX-License-Identifier: Apache-2.0 OR MIT

// Writes a .gz next to every file of dist that becomes smaller. The daemon serves it unchanged.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, String(name));
  if (!statSync(path).isFile() || path.endsWith('.gz')) continue;
  const bytes = readFileSync(path);
  const packed = gzipSync(bytes, { level: 9 });
  if (packed.length < bytes.length) writeFileSync(`${path}.gz`, packed);
}
