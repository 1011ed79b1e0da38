// SPDX-License-Identifier: Apache-2.0 OR MIT

// A readable line for the arguments of a tool call. Long arguments arrive cut, so their JSON may end early.

export interface SummarizedTool {
  name: string;
  gist?: string | null;
}

const TODO_ITEM = /"content"\s*:\s*"((?:[^"\\]|\\.)*)"/g;
const STATUS = /"status"\s*:\s*"(\w+)"/g;
/** A field with a text, a number or a truth value. */
const FIELD = /"(\w+)"\s*:\s*(?:"((?:[^"\\]|\\.)*)(?:"|$)|(-?\d[\d.]*|true|false))/g;
const MAX_FIELDS = 3;
const MAX_VALUE_CHARS = 80;

const unescaped = (text: string) => {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
};
const short = (text: string) => (text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text);

/** The call in one line; JSON becomes words. */
export function toolSummary(tool: SummarizedTool): string {
  const gist = tool.gist ?? '';
  if (!/^\s*[[{]/.test(gist)) return gist;
  const todos = [...gist.matchAll(TODO_ITEM)].map(([, text]) => unescaped(text ?? ''));
  if (todos.length > 0 && /todo|plan/i.test(tool.name)) return todoSummary(todos, gist);
  const fields = [...gist.matchAll(FIELD)].slice(0, MAX_FIELDS);
  if (fields.length === 0) return gist;
  return fields.map(([, key, text, other]) => `${key}: ${short(unescaped(text ?? other ?? ''))}`).join(' · ');
}

function todoSummary(todos: string[], gist: string): string {
  const states = [...gist.matchAll(STATUS)].map(([, state]) => state);
  const done = states.filter((state) => state === 'completed').length;
  const current = todos[states.indexOf('in_progress')] ?? todos.find((_, at) => states[at] !== 'completed');
  // The list may be cut, so only a list that ends is counted.
  const count = /\]\s*\}?\s*$/.test(gist) ? `${done} of ${todos.length} done` : `${done} done`;
  return current ? `${count} · now: ${current}` : count;
}
