// SPDX-License-Identifier: Apache-2.0 OR MIT

// Requests to the daemon. The cookie identifies the browser. The page key, which pages on other ports cannot
// read, proves that the request comes from this page.

import { OPERATIONS, type Operations } from './types';

/** An error of the API, with a hint. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint?: string,
    /** The complete response, if it is JSON. */
    readonly answer?: unknown,
  ) {
    super(message);
  }
}

type Only<T> = { [K in keyof T as T[K] extends undefined ? never : K]: T[K] };

/** Parameters of an operation. */
export type Asked<Name extends keyof Operations> = Only<Pick<Operations[Name], 'path' | 'body'>> &
  Partial<Only<Pick<Operations[Name], 'query' | 'headers'>>> & { signal?: AbortSignal };

type Loose = {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
};

/** Storage key of the page key. Only pages of this origin, including the port, can read it. */
const KEY = 'tenterhook-page';
const HEADER = 'tenterhook-page';

/** Called when the session is no longer valid. */
let closed: () => void = () => {};

export function whenClosed(tell: () => void) {
  closed = tell;
}

export const pageKey = {
  get: () => localStorage.getItem(KEY) ?? '',
  set: (key: string) => localStorage.setItem(KEY, key),
  forget: () => localStorage.removeItem(KEY),
};

/** Calls an operation and returns the parsed response. */
export async function call<Name extends keyof Operations>(
  name: Name,
  asked: Asked<Name>,
): Promise<Operations[Name]['gives']> {
  const response = await request(name, asked as Loose);
  const json = response.headers.get('content-type')?.startsWith('application/json');
  return (json ? await response.json() : await response.text()) as Operations[Name]['gives'];
}

/** Sends a request and returns the response. Throws unless the status is successful. */
export async function request(name: keyof Operations, asked: Loose): Promise<Response> {
  const [method, pattern] = OPERATIONS[name];
  const path = pattern.replace(/\{(\w+)\}/g, (_match: string, part: string) =>
    encodeURIComponent(asked.path?.[part] ?? ''),
  );
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(asked.query ?? {})) {
    if (value !== undefined && value !== null && value !== '') query.set(key, String(value));
  }
  const headers: Record<string, string> = { [HEADER]: pageKey.get(), ...asked.headers };
  const text = typeof asked.body === 'string';
  if (asked.body !== undefined) headers['content-type'] = text ? 'application/yaml' : 'application/json';
  const body =
    asked.body === undefined || text ? (asked.body as string | undefined) : JSON.stringify(asked.body);
  const init = { method, headers, body, signal: asked.signal, cache: 'no-store' as const };
  const address = query.size > 0 ? `${path}?${query}` : path;
  const response = await fetch(address, init).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'the daemon does not respond', 'start it with `tenterhook start`');
  });
  if (response.ok) return response;
  if (response.status === 401) closed();
  const answer: unknown = await response.json().catch(() => undefined);
  const said = (answer as { error?: { message?: string; hint?: string } } | undefined)?.error;
  throw new ApiError(
    response.status,
    said?.message ?? `the daemon replied with status ${response.status}`,
    said?.hint,
    answer,
  );
}

/** Message and hint of any thrown value. */
export function errorText(error: unknown): { message: string; hint?: string } {
  if (error instanceof ApiError) return { message: error.message, hint: error.hint };
  return { message: error instanceof Error ? error.message : String(error) };
}

/** Whether the error is an aborted request. */
export function aborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
