// SPDX-License-Identifier: Apache-2.0 OR MIT

// Fills the rule form from a pasted command.

import type { Form } from './rule-form';

/** Whether the form has a condition. Without one, the rule is not finished. */
export const hasCondition = (form: Form): boolean =>
  [form.tool, form.program, form.words, form.effectPath, form.path, form.host, form.command, form.when].some(
    (field) => field.trim() !== '',
  ) ||
  form.does.length > 0 ||
  Object.keys(form.rest.match ?? {}).length > 0;

/** Whether a field is filled that is shown only on request. */
export const isAdvanced = (form: Form): boolean =>
  [
    form.mode,
    form.description,
    form.nudge,
    form.tool,
    form.host,
    form.path,
    form.command,
    form.when,
    form.limitCount,
  ].some((field) => field.trim() !== '') || form.severity !== 'medium';

interface CommandFacts {
  program?: unknown;
  words?: { text?: unknown }[];
  /** Programs that started this one, such as `sudo`. */
  via?: string[];
}

/** The fields that a command decides: its program, its first argument that is not an option, and an example. */
export function formOfCommand(command: string, facts: unknown): Partial<Form> {
  const commands = (facts as { commands?: CommandFacts[] } | null)?.commands ?? [];
  const chosen = commands.find((one) => one.via?.length) ?? commands[0];
  const program = typeof chosen?.program === 'string' ? chosen.program : (command.split(/\s+/)[0] ?? '');
  const args = (chosen?.words ?? []).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const name = program.split('/').at(-1) ?? program;
  const word = args.find((one) => /^[a-z][\w-]*$/i.test(one));
  return {
    id: ['no', name, word]
      .filter(Boolean)
      .join('-')
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-'),
    program: name,
    words: word ?? '',
    deny: command.replaceAll('\n', '\\n'),
  };
}
