// SPDX-License-Identifier: Apache-2.0 OR MIT

// Reads the arguments of a tool call into parts that people can read.

export interface ReadArguments {
  command?: string;
  diffs: { path?: string; before: string; after: string }[];
  todos: { text: string; status: string }[];
  /** Other arguments. */
  fields: [name: string, value: string][];
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
const first = (args: Json, names: string[]) =>
  names.map((name) => text(args[name])).find((one) => one !== undefined);

const PATHS = ['file_path', 'path', 'filePath', 'absolute_path', 'target_file', 'notebook_path'];
const EDITS: [before: string, after: string][] = [
  ['old_string', 'new_string'],
  ['oldString', 'newString'],
  ['old_str', 'new_str'],
];
const CONTENTS = ['content', 'file_text', 'contents'];

export function readArguments(tool: string, args: Json): ReadArguments {
  const used = new Set<string>();
  const take = (name: string) => {
    used.add(name);
    return args[name];
  };
  const read: ReadArguments = { diffs: [], todos: [], fields: [] };
  const command = args.command;
  if (typeof command === 'string' || Array.isArray(command)) {
    take('command');
    read.command = typeof command === 'string' ? command : command.map(String).join(' ');
  }
  const path = first(args, PATHS);
  const edits = [args, ...(Array.isArray(args.edits) ? args.edits.filter(isObject) : [])];
  for (const edit of edits) {
    for (const [before, after] of EDITS) {
      const [old, fresh] = [text(edit[before]), text(edit[after])];
      if (old === undefined && fresh === undefined) continue;
      read.diffs.push({ path, before: old ?? '', after: fresh ?? '' });
      for (const name of [before, after, 'edits']) take(name);
    }
  }
  const content = CONTENTS.find((name) => typeof args[name] === 'string');
  if (content && /write|create|edit/i.test(tool)) {
    read.diffs.push({ path, before: '', after: String(take(content)) });
  }
  if (read.diffs.length > 0) for (const name of PATHS) take(name);
  if (Array.isArray(args.todos)) {
    take('todos');
    read.todos = args.todos.filter(isObject).map((one) => ({
      text: text(one.content) ?? text(one.text) ?? '',
      status: text(one.status) ?? 'pending',
    }));
  }
  read.fields = Object.entries(args)
    .filter(([name, value]) => !used.has(name) && value !== null && value !== undefined && value !== '')
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  return read;
}
