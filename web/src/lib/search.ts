// SPDX-License-Identifier: Apache-2.0 OR MIT

// The search language: `verdict:deny tool:Bash rest`. A term with a known key becomes a chip, the rest is text.

import { verdictLabel } from './verdict';

export interface SearchKey {
  key: string;
  title: string;
  /** Known values with their number of records. */
  values: [value: string, count?: number][];
}

export interface Suggestion {
  /** Term that is added; ends in a colon if it is only a key. */
  term: string;
  title: string;
  count?: number;
}

const MAX_SUGGESTIONS = 9;

/** Splits a query into terms with a known key and text. Values with spaces are quoted. */
export function parseSearch(query: string, keys: string[]): { terms: Record<string, string>; text: string } {
  const terms: Record<string, string> = {};
  const text = query.replace(
    /(?:^|\s)(\w+):(?:"([^"]*)"|(\S+))/g,
    (all, key: string, quoted?: string, plain?: string) => {
      if (!keys.includes(key)) return all;
      terms[key] = quoted ?? plain ?? '';
      return '';
    },
  );
  return { terms, text: text.trim() };
}

export const chipText = (key: string, value: string) =>
  `${key}: ${key === 'verdict' ? verdictLabel(value) : value}`;

/** Terms that complete what is typed: values of the key before the colon, or keys and values that contain it. */
export function suggest(typed: string, keys: SearchKey[]): Suggestion[] {
  const last = typed.split(/\s+/).at(-1) ?? '';
  const [name, start] = last.includes(':') ? (last.split(':', 2) as [string, string]) : [undefined, last];
  const word = start.toLowerCase();
  const matches = (value: string) =>
    value.toLowerCase().includes(word) || verdictLabel(value).toLowerCase().includes(word);
  const valuesOf = ({ key, title, values }: SearchKey): Suggestion[] =>
    values
      .filter(([value]) => matches(value))
      .map(([value, count]) => ({
        term: `${key}:${/\s/.test(value) ? `"${value}"` : value}`,
        title: key === 'verdict' ? `${title}: ${verdictLabel(value)}` : `${title}: ${value}`,
        count,
      }));
  if (name !== undefined) {
    const key = keys.find((one) => one.key === name);
    return key ? valuesOf(key).slice(0, MAX_SUGGESTIONS) : [];
  }
  const starts = keys
    .filter((one) => one.key.startsWith(word))
    .map((one) => ({ term: `${one.key}:`, title: one.title }));
  const values = word.length >= 2 ? keys.flatMap(valuesOf) : [];
  return [...starts, ...values].slice(0, MAX_SUGGESTIONS);
}
