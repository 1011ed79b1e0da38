// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { readArguments } from '../src/lib/call-arguments';
import { bestEntries } from '../src/lib/palette';
import { qrPath } from '../src/lib/qr-path';
import { toolSummary } from '../src/lib/tool-summary';

const todos = JSON.stringify({
  todos: [
    { content: 'Find the bug', status: 'completed', activeForm: 'Finding' },
    { content: 'Fix "it"', status: 'in_progress', activeForm: 'Fixing' },
    { content: 'Test', status: 'pending', activeForm: 'Testing' },
  ],
});

test('a to-do list is summarized, also if it is cut', () => {
  expect(toolSummary({ name: 'TodoWrite', gist: todos })).toBe('1 of 3 done · now: Fix "it"');
  expect(toolSummary({ name: 'TodoWrite', gist: todos.slice(0, 150) })).toMatch(/^1 done · now: /);
});

test('other JSON becomes names and values, and a command stays as it is', () => {
  expect(
    toolSummary({ name: 'mcp__db__query', gist: '{"sql":"select 1","limit":10,"dry":true,"x":"y"}' }),
  ).toBe('sql: select 1 · limit: 10 · dry: true');
  expect(toolSummary({ name: 'Bash', gist: 'npm test' })).toBe('npm test');
  expect(toolSummary({ name: 'Bash', gist: null })).toBe('');
});

test('arguments become a command, diffs, a list, and fields', () => {
  const edit = readArguments('Edit', {
    file_path: '/a.ts',
    old_string: 'x',
    new_string: 'y',
    replace_all: true,
  });
  expect(edit.diffs).toEqual([{ path: '/a.ts', before: 'x', after: 'y' }]);
  expect(edit.fields).toEqual([['replace_all', 'true']]);
  expect(readArguments('Write', { file_path: '/b', content: 'z' }).diffs).toEqual([
    { path: '/b', before: '', after: 'z' },
  ]);
  const shell = readArguments('Bash', { command: 'ls', description: 'List' });
  expect([shell.command, shell.fields]).toEqual(['ls', [['description', 'List']]]);
  expect(readArguments('TodoWrite', JSON.parse(todos)).todos).toHaveLength(3);
  const several = readArguments('MultiEdit', {
    file_path: '/c',
    edits: [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: 'd' },
    ],
  });
  expect(several.diffs).toHaveLength(2);
  expect(several.fields).toEqual([]);
});

test('a QR code is a path of its dark runs', () => {
  expect(qrPath(['110', '001'], 2)).toBe('M2 2h2v1h-2zM4 3h1v1h-1z');
});

test('the palette ranks the start of a title first, and needs every word', () => {
  const entry = (title: string, kind: string, words = '') => ({ title, kind, words, run: () => {} });
  const entries = [
    entry('remote-destroy', 'Rule'),
    entry('Rules', 'Page'),
    entry('no-rule', 'Rule', 'deletes'),
  ];
  expect(bestEntries(entries, 'rule', 9).map(({ title }) => title)).toEqual([
    'Rules',
    'no-rule',
    'remote-destroy',
  ]);
  expect(bestEntries(entries, 'rule deletes', 9).map(({ title }) => title)).toEqual(['no-rule']);
  expect(bestEntries(entries, 'zzz', 9)).toEqual([]);
});
