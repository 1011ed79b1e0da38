// SPDX-License-Identifier: Apache-2.0 OR MIT

// A hook put together without code, as the files of a kit. Pure. A JSON text is a YAML text, so that nothing
// that is typed can be anything but text.

export type Action = 'deny' | 'ask' | 'context' | 'message' | 'command' | 'url';

export interface Built {
  name: string;
  event: string;
  match: string;
  when: string;
  action: Action;
  /** The reason, the text, the command or the address. */
  text: string;
  nudge: string;
  timeout: string;
  fail: 'open' | 'closed';
}

export const ACTIONS: [Action, string, string][] = [
  ['deny', 'Deny it', 'Why, for the agent'],
  ['ask', 'Ask a person', 'Why'],
  ['context', 'Tell the model', 'What it should know'],
  ['message', 'Tell the person', 'What to say'],
  ['command', 'Run a command', 'For the shell; the event is on its standard input'],
  ['url', 'Post it to an address', 'https://…'],
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

/** What the hook answers, where it always answers the same. */
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
    'about: "Put together on the dashboard."',
    `language: ${said || built.action === 'url' ? 'config' : 'shell'}`,
    'hooks:',
    ...lines,
    '',
  ].join('\n');
  return said
    ? { 'hook.yaml': manifest, 'answer.json': `${JSON.stringify(said, null, 2)}\n` }
    : { 'hook.yaml': manifest };
}
