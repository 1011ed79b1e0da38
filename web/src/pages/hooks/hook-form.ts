// SPDX-License-Identifier: Apache-2.0 OR MIT

// Builds the files of a hook package from a form. Values are written as JSON strings, which are valid YAML, so that
// input is never interpreted as YAML syntax.

export type Action = 'deny' | 'ask' | 'context' | 'message' | 'command' | 'url';

export interface Built {
  name: string;
  event: string;
  match: string;
  when: string;
  action: Action;
  /** The reason, text, command or URL. */
  text: string;
  nudge: string;
  timeout: string;
  fail: 'open' | 'closed';
}

export const ACTIONS: [Action, string, string][] = [
  ['deny', 'Deny', 'Reason for the agent'],
  ['ask', 'Ask the user', 'Reason'],
  ['context', 'Add context for the model', 'Context'],
  ['message', 'Show a message to the user', 'Message'],
  ['command', 'Run a command', 'Shell command; the event is on standard input'],
  ['url', 'Send to a URL (HTTP POST)', 'https://…'],
];

export const EVENTS = [
  'pre-tool',
  'post-tool',
  'tool-error',
  'prompt',
  'stop',
  'session-start',
  'session-end',
  'permission-request',
  'pre-model',
  'post-model',
  'subagent-start',
  'subagent-stop',
  'pre-compact',
  'notification',
];

export const BEGINNING: Built = {
  name: 'my-hook',
  event: 'pre-tool',
  match: 'Bash',
  when: '',
  action: 'deny',
  text: '',
  nudge: '',
  timeout: '5s',
  fail: 'open',
};

/** The constant reply of the hook, for actions that have one. */
function answer({ action, text, nudge }: Built): Record<string, string> | undefined {
  if (action === 'deny') return { decision: 'deny', reason: text, ...(nudge ? { nudge } : {}) };
  if (action === 'ask') return { decision: 'ask', reason: text };
  if (action === 'context') return { context: text };
  if (action === 'message') return { message: text };
  return undefined;
}

export function files(built: Built): Record<string, string> {
  const said = answer(built);
  const about = ACTIONS.find(([action]) => action === built.action)?.[1] ?? '';
  const entry: [string, unknown][] = [
    ['id', built.name],
    ['on', built.event],
    ...(built.match ? [['match', built.match] as [string, unknown]] : []),
    ...(built.when ? [['when', built.when] as [string, unknown]] : []),
    said
      ? ['exec', ['cat', '{kit}/answer.json']]
      : built.action === 'url'
        ? ['url', built.text]
        : ['command', built.text],
    ['timeout', built.timeout],
    ['fail', built.fail],
  ];
  const lines = entry.map(
    ([key, value], at) => `${at === 0 ? '  - ' : '    '}${key}: ${JSON.stringify(value)}`,
  );
  const manifest = [
    `title: ${JSON.stringify(`${about} on ${built.event}`)}`,
    'about: "Created on the dashboard."',
    `language: ${said || built.action === 'url' ? 'config' : 'shell'}`,
    'hooks:',
    ...lines,
    '',
  ].join('\n');
  return said
    ? { 'hook.yaml': manifest, 'answer.json': `${JSON.stringify(said, null, 2)}\n` }
    : { 'hook.yaml': manifest };
}
