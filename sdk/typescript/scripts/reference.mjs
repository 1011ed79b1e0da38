// SPDX-License-Identifier: Apache-2.0 OR MIT

// reference.mjs [--check]: writes docs/reference/sdk-typescript.md from the types and comments of `npm run build`, or
// fails when it is stale.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = here("../../../docs/reference/sdk-typescript.md");
const ENTRIES = [
  ["tenterhook", here("../dist/index.d.ts")],
  ["tenterhook/llxprt", here("../dist/llxprt/index.d.ts")],
];
const KINDS = [
  ["Classes", ts.SymbolFlags.Class],
  ["Functions", ts.SymbolFlags.Function],
  ["Constants", ts.SymbolFlags.Variable | ts.SymbolFlags.Enum],
  ["Types", ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias],
];

const program = ts.createProgram({
  rootNames: ENTRIES.map(([, path]) => path),
  options: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, types: ["node"] },
});
const checker = program.getTypeChecker();

const page = [
  "# The TypeScript SDK\n",
  "Everything the package exports, written by `npm run generate` from its sources. To begin with, read",
  "[the guide](../guide/sdk-typescript.md).\n",
  ...ENTRIES.flatMap(([name, path]) => entry(name, path)),
].join("\n");

if (process.argv[2] !== "--check") {
  writeFileSync(PAGE, page);
} else if (readFileSync(PAGE, "utf8") !== page) {
  console.error("docs/reference/sdk-typescript.md is stale: npm run generate");
  process.exitCode = 1;
}

function entry(name, path) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(path));
  const symbols = checker.getExportsOfModule(module).map((symbol) => {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  });
  const sections = KINDS.flatMap(([title, flags]) => {
    const members = symbols.filter((symbol) => symbol.flags & flags && !isListed(symbol, flags));
    const sorted = members.sort((a, b) => (a.name < b.name ? -1 : 1));
    return sorted.length === 0 ? [] : [`### ${title} of \`${name}\`\n`, ...sorted.flatMap(section)];
  });
  return [`## \`${name}\`\n`, ...sections];
}

/** To the compiler, a class is an interface too. */
function isListed(symbol, flags) {
  return flags & ts.SymbolFlags.Interface && symbol.flags & ts.SymbolFlags.Class;
}

function section(symbol) {
  const [declaration] = symbol.declarations;
  // The node of a constant has neither its comment nor its keyword.
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const file = declaration.getSourceFile();
  const about = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  const code = file.text.slice(statement.getStart(), statement.end).replace(/^export (declare )?/, "");
  const shown = code
    .replace(/\n {4}#private;/, "")
    .replaceAll(/ +$/gm, "")
    .replaceAll(/^(?: {4})+/gm, (indent) => " ".repeat(indent.length / 2));
  return [`#### ${symbol.name}\n`, ...(about ? [`${about}\n`] : []), `\`\`\`ts\n${shown}\n\`\`\`\n`];
}
