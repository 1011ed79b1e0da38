// SPDX-License-Identifier: Apache-2.0 OR MIT

// guide-blocks.mjs DIR: writes each TypeScript block of the guide into a separate file with the declarations that it
// assumes, so that it compiles.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [dir] = process.argv.slice(2);
const guide = readFileSync(new URL("../../../docs/guide/sdk-typescript.md", import.meta.url), "utf8");
const blocks = [...guide.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1]);
if (blocks.length === 0) throw new Error("the guide has no TypeScript");

for (const [number, block] of blocks.entries()) {
  const granted = [
    !block.includes('from "tenterhook"') && 'import { TenterhookClient, tenterhookHooks } from "tenterhook";',
    !block.includes("const client") && "declare const client: TenterhookClient;",
  ];
  writeFileSync(join(dir, `guide-${number}.ts`), `${granted.filter(Boolean).join("\n")}\n${block}export {};\n`);
}
