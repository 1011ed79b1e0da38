// SPDX-License-Identifier: Apache-2.0 OR MIT

// Writes src/lib/api/types.ts from docs/reference/openapi.json: a type for each schema, and one row for
// each operation. With --check it only checks whether the file is up to date.

import { readFileSync, writeFileSync } from 'node:fs';

const SOURCE = new URL('../../docs/reference/openapi.json', import.meta.url);
const TARGET = new URL('../src/lib/api/types.ts', import.meta.url);

const document = JSON.parse(readFileSync(SOURCE, 'utf8'));

const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const several = (types, sign) => [...new Set(types)].join(sign);
const wrapped = (type) => (/[|&]/.test(type) ? `(${type})` : type);

/** A schema as a type. */
function type(schema) {
  if (schema === true || schema === undefined) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum)
    return several(
      schema.enum.map((value) => JSON.stringify(value)),
      ' | ',
    );
  if (schema.allOf)
    return several(
      schema.allOf.map((one) => wrapped(type(one))),
      ' & ',
    );
  const choice = schema.oneOf ?? schema.anyOf;
  if (choice) {
    const union = several(
      choice.map((one) => wrapped(type(one))),
      ' | ',
    );
    return schema.properties ? `${object(schema)} & (${union})` : union;
  }
  if (Array.isArray(schema.type))
    return several(
      schema.type.map((one) => plain({ ...schema, type: one })),
      ' | ',
    );
  return plain(schema);
}

function plain(schema) {
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return `${wrapped(type(schema.items))}[]`;
    case 'object':
      return object(schema);
    default:
      return schema.properties ? object(schema) : 'unknown';
  }
}

function object(schema) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const about = field.description ? `/** ${field.description.replaceAll('*/', '')} */ ` : '';
    return `${about}${key(name)}${required.has(name) ? '' : '?'}: ${type(field)}`;
  });
  const rest = schema.additionalProperties;
  if (fields.length === 0) return `{ [key: string]: ${rest ? type(rest) : 'unknown'} }`;
  return `{ ${fields.join('; ')} }`;
}

const mediaType = (content) => Object.entries(content ?? {})[0] ?? [];

function operation(described) {
  const placed = (place) => (described.parameters ?? []).filter((one) => one.in === place);
  const record = (list, mark) =>
    list.length === 0
      ? 'undefined'
      : `{ ${list.map((one) => `${key(one.name)}${mark}: ${type(one.schema)}`).join('; ')} }`;
  const [, answer] = Object.entries(described.responses)[0];
  const [media, given] = mediaType(answer.content);
  const [takes, taken] = mediaType(described.requestBody?.content);
  const gives =
    media === 'application/json' || media === 'text/event-stream'
      ? type(given.schema)
      : media
        ? 'string'
        : 'undefined';
  const body =
    takes === undefined ? 'undefined' : takes === 'application/json' ? type(taken.schema) : 'string';
  return [
    `  /** ${described.summary} */`,
    `  ${described.operationId}: {`,
    `    path: ${record(placed('path'), '')};`,
    `    query: ${record(placed('query'), '?')};`,
    `    headers: ${record(placed('header'), '?')};`,
    `    body: ${body};`,
    `    gives: ${gives};`,
    '  };',
  ].join('\n');
}

const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ method, path, described })),
);
const schemas = Object.entries(document.components.schemas).map(([name, schema]) => {
  const about = schema.description ? `/** ${schema.description.replaceAll('*/', '')} */\n` : '';
  return `${about}export type ${name} = ${type(schema)};`;
});

const text = [
  '// SPDX-License-Identifier: Apache-2.0 OR MIT',
  '',
  '// Generated from docs/reference/openapi.json by scripts/api.mjs (`npm run generate`).',
  '',
  schemas.join('\n\n'),
  '',
  '/** Every operation of the API: what it takes and gives. */',
  'export interface Operations {',
  rows.map(({ described }) => operation(described)).join('\n'),
  '}',
  '',
  '/** Where each operation is. */',
  'export const OPERATIONS: { [Name in keyof Operations]: readonly [method: string, path: string] } = {',
  ...rows.map(
    ({ method, path, described }) => `  ${described.operationId}: ['${method.toUpperCase()}', '${path}'],`,
  ),
  '};',
  '',
].join('\n');

if (process.argv.includes('--check')) {
  if (readFileSync(TARGET, 'utf8') !== text) {
    console.error(
      'src/lib/api/types.ts is not what docs/reference/openapi.json says; `npm run generate` in web/',
    );
    process.exit(1);
  }
} else {
  writeFileSync(TARGET, text);
}
