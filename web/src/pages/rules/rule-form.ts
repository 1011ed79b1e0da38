// SPDX-License-Identifier: Apache-2.0 OR MIT

// Converts between rules and the form. Keys without a form field are kept unchanged.

export interface Form {
  id: string;
  description: string;
  severity: string;
  mode: string;
  verdict: string;
  tool: string;
  program: string;
  words: string;
  does: string[];
  effectPath: string;
  path: string;
  host: string;
  command: string;
  when: string;
  reason: string;
  nudge: string;
  overrides: string;
  limitCount: string;
  limitWindow: string;
  deny: string;
  ask: string;
  allow: string;
  /** Keys without a form field: of the rule, of `match`, of `shell`, `effect` and `examples`. */
  rest: Record<string, Json>;
}

type Json = Record<string, unknown>;

export const DOES = ['read', 'write', 'append', 'delete', 'move', 'permit', 'run'];

export const EMPTY: Form = {
  id: '',
  description: '',
  severity: 'medium',
  mode: '',
  verdict: 'deny',
  tool: '',
  program: '',
  words: '',
  does: [],
  effectPath: '',
  path: '',
  host: '',
  command: '',
  when: '',
  reason: '',
  nudge: '',
  overrides: '',
  limitCount: '',
  limitWindow: '',
  deny: '',
  ask: '',
  allow: '',
  rest: {},
};

const listed = (value: unknown): string[] =>
  value === undefined || value === null ? [] : (Array.isArray(value) ? value : [value]).map(String);
const joined = (value: unknown) => listed(value).join(', ');
/** Formats examples, one per line. Tool calls are written as JSON. */
const lines = (value: unknown) =>
  (Array.isArray(value) ? value : [])
    .map((one) => (typeof one === 'string' ? one.replaceAll('\n', '\\n') : JSON.stringify(one)))
    .join('\n');
const part = (value: unknown): Json =>
  value && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};
const without = (value: Json, keys: string[]): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
const text = (value: unknown) => (typeof value === 'string' ? value : '');

const OWN = 'id description severity mode verdict match when reason nudge overrides limit examples'.split(
  ' ',
);

export function toForm(rule: Json): Form {
  const match = part(rule.match);
  const [shell, effect, regex] = [part(match.shell), part(match.effect), part(match.regex)];
  const [limit, examples] = [part(rule.limit), part(rule.examples)];
  return {
    id: text(rule.id),
    description: text(rule.description),
    severity: text(rule.severity) || 'medium',
    mode: text(rule.mode),
    verdict: text(rule.verdict) || 'deny',
    tool: joined(match.tool),
    program: joined(shell.program),
    words: joined(shell.words),
    does: listed(effect.does),
    effectPath: joined(effect.path),
    path: joined(match.path),
    host: joined(match.host),
    command: listed(regex.command).join('\n'),
    when: text(rule.when),
    reason: text(rule.reason),
    nudge: text(rule.nudge),
    overrides: joined(rule.overrides),
    limitCount: limit.count === undefined ? '' : String(limit.count),
    limitWindow: text(limit.window),
    deny: lines(examples.deny),
    ask: lines(examples.ask),
    allow: lines(examples.allow),
    rest: {
      rule: without(rule, OWN),
      match: without(match, ['tool', 'shell', 'effect', 'path', 'host', 'regex']),
      shell: without(shell, ['program', 'words']),
      effect: without(effect, ['does', 'path']),
      regex: without(regex, ['command']),
      limit: without(limit, ['count', 'window']),
      examples: without(examples, ['deny', 'ask', 'allow']),
    },
  };
}

const items = (value: string, by: RegExp): string[] | undefined => {
  const list = value
    .split(by)
    .map((one) => one.trim())
    .filter(Boolean);
  return list.length > 0 ? list : undefined;
};
const commas = (value: string) => items(value, /,/);
const calls = (value: string) =>
  items(value, /\n/)?.map((line) => {
    if (!line.startsWith('{')) return line;
    try {
      return JSON.parse(line) as unknown;
    } catch {
      return line;
    }
  });
/** Removes empty values. Returns undefined if nothing is left. */
const some = (value: Json): Json | undefined => {
  const kept = Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined && one !== ''));
  return Object.keys(kept).length > 0 ? kept : undefined;
};

export function toRule(form: Form): Json {
  const count = Number(form.limitCount);
  return {
    ...form.rest.rule,
    id: form.id.trim(),
    description: form.description.trim(),
    severity: form.severity,
    mode: form.mode,
    match:
      some({
        ...form.rest.match,
        tool: commas(form.tool),
        shell: some({ ...form.rest.shell, program: commas(form.program), words: commas(form.words) }),
        effect: some({
          ...form.rest.effect,
          does: form.does.length > 0 ? form.does : undefined,
          path: commas(form.effectPath),
        }),
        path: commas(form.path),
        host: commas(form.host),
        regex: some({ ...form.rest.regex, command: items(form.command, /\n/) }),
      }) ?? {},
    when: form.when.trim(),
    verdict: form.verdict,
    reason: form.reason.trim(),
    nudge: form.nudge.trim(),
    limit:
      form.limitCount.trim() && Number.isFinite(count)
        ? { ...form.rest.limit, count, window: form.limitWindow.trim() || '1h' }
        : undefined,
    overrides: commas(form.overrides),
    examples: some({
      ...form.rest.examples,
      deny: calls(form.deny),
      ask: calls(form.ask),
      allow: calls(form.allow),
    }),
  };
}
