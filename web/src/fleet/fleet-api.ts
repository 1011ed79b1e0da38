// SPDX-License-Identifier: Apache-2.0 OR MIT

// The fleet server's HTTP API, as far as the pages use it. A reverse proxy names the user.

export interface FleetHarness {
  harness: string;
  guarded: boolean;
  state: string;
}

export interface MachineStatus {
  daemon_running: boolean;
  harnesses: FleetHarness[];
  ledger_size: number;
  uploaded: number;
  mode: string;
  os: string;
  problems: string[];
  sandbox_levels: string[];
  version: string;
}

export interface FleetMachine {
  machine: string;
  host: string;
  version: string;
  labels: Record<string, string>;
  ci: boolean;
  ring: string;
  origin: string;
  joined: string;
  left: string | null;
  last_seen: string;
  records: number;
  witnessed: number;
  status: MachineStatus | null;
  alerts: number;
}

export interface FleetDecision {
  machine: string;
  host: string;
  record: number;
  at: string;
  kind: string;
  verdict: string | null;
  event: string | null;
  harness: string | null;
  tool: string | null;
  rule: string | null;
  session: string | null;
  user: string | null;
  cwd: string | null;
  reason: string | null;
}

export interface FleetAlert {
  id: number;
  machine: string;
  host: string | null;
  kind: string;
  detail: unknown;
  raised: string;
  last_raised: string;
  times: number;
  acknowledged: string | null;
  acknowledged_by: string | null;
  ended: string | null;
}

export interface HourlyCount {
  hour: string;
  harness: string;
  verdict: string;
  calls: number;
}

export class FleetRequestError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

async function send<T>(method: string, path: string): Promise<T> {
  let answer: Response;
  try {
    // The server accepts a change only with a header that pages of other sites cannot send.
    const headers = { accept: 'application/json', 'x-tenterhook-fleet': '1' };
    answer = await fetch(path, { method, headers, cache: 'no-store' });
  } catch {
    throw new FleetRequestError(0, 'the fleet server does not answer', 'retrying every few seconds');
  }
  const body = await answer.json().catch(() => undefined);
  if (answer.ok) return body as T;
  const error = (body as { error?: { message?: string; hint?: string } } | undefined)?.error;
  throw new FleetRequestError(answer.status, error?.message ?? `HTTP ${answer.status}`, error?.hint);
}

function withQuery(path: string, query: Record<string, string | undefined>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) search.set(key, value);
  return search.size > 0 ? `${path}?${search}` : path;
}

export const listMachines = async (search?: string) =>
  (await send<{ machines: FleetMachine[] }>('GET', withQuery('/v1/machines', { search }))).machines;

export const listDecisions = async (query: Record<string, string | undefined>) =>
  (await send<{ decisions: FleetDecision[] }>('GET', withQuery('/v1/decisions', query))).decisions;

export const listAlerts = async (all: boolean) =>
  (await send<{ alerts: FleetAlert[] }>('GET', withQuery('/v1/alerts', { all: all ? 'true' : undefined })))
    .alerts;

export const listCounts = async (since: Date) =>
  (await send<{ counts: HourlyCount[] }>('GET', withQuery('/v1/counts', { since: since.toISOString() })))
    .counts;

export const acknowledgeAlert = (id: number) => send('POST', `/v1/alerts/${id}/acknowledge`);
