// SPDX-License-Identifier: Apache-2.0 OR MIT

// The fleet server's HTTP API, as far as the pages use it. A cookie and a page key identify the browser, or a reverse
// proxy names the user.

import { pageKey } from '../lib/api/client';

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
  bundle: {
    version: number;
    stale: boolean;
    refused: { version: number | null; reason: string } | null;
  } | null;
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

/** Who is signed in. */
export interface FleetSession {
  operator: string;
  role: 'viewer' | 'author' | 'approver' | 'admin';
  tenant: string;
  /** When the session ends; null if a reverse proxy names the user. */
  expires: string | null;
}

export interface MachineBehind {
  machine: string;
  host: string;
  ring: string;
  last_seen: string;
  silent: boolean;
  records: number;
  policy: number;
  ring_policy: number;
}

export interface FleetOverview {
  machines: number;
  online: number;
  unguarded: number;
  without_daemon: number;
  harnesses: { harness: string; state: string; guarded: boolean; machines: number }[];
  shares: { field: 'version' | 'mode' | 'sandbox'; value: string; machines: number }[];
  behind_total: number;
  behind: MachineBehind[];
}

export interface DecisionValue {
  field: string;
  value: string;
  count: number;
}

export interface RecordState {
  decision: FleetDecision;
  envelope: string;
  stored: number;
  witnessed: number;
  note: string;
  alerts: number;
}

export interface FleetBundle {
  version: number;
  sha256: string;
  min_version: number;
  not_after: string;
  commit: string | null;
  signed_by: string[];
  pushed_by: string;
  pushed: string;
}

export type RolloutStageName = 'candidate' | 'active' | 'halted' | 'stopped';

export interface FleetRollout {
  rollout: {
    ring: string;
    version: number;
    stage: RolloutStageName;
    previous_version: number | null;
    max_newly_denied: number;
    reason: string | null;
    changed_by: string;
    changed: string;
  };
  replay: {
    reported: number;
    machines: number;
    calls: number;
    denied_before: number;
    denied_after: number;
    asked_before: number;
    asked_after: number;
    newly_denied: number;
  };
}

export interface FleetPolicy {
  signers: { keys: string[]; threshold: number };
  bundles: FleetBundle[];
  rollouts: FleetRollout[];
  rings: { ring: string; version: number; machines: number; refused: number }[];
}

export interface BundleChanges {
  version: number;
  compared_with: number | null;
  weakening: boolean;
  total: number;
  changes: string[];
}

export interface RolloutStage {
  ring: string;
  version: number;
  stage: RolloutStageName;
  reason: string | null;
  changed_by: string;
  changed: string;
}

export interface FleetApproval {
  machine: string;
  host: string | null;
  approval: string;
  /** The call as JSON, as the machine sent it. */
  call: string;
  digest: string;
  expires: string;
  asked: string;
  closed: string | null;
  decision: string | null;
  approver: string | null;
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

async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  let answer: Response;
  try {
    // The server accepts a change only with a header that pages of other sites cannot send.
    const headers: Record<string, string> = {
      accept: 'application/json',
      'x-tenterhook-fleet': '1',
      'tenterhook-page': pageKey.get(),
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const text = body === undefined ? undefined : JSON.stringify(body);
    answer = await fetch(path, { method, headers, body: text, cache: 'no-store' });
  } catch {
    throw new FleetRequestError(0, 'the fleet server does not answer', 'retrying every few seconds');
  }
  const found = await answer.json().catch(() => undefined);
  if (answer.ok) return found as T;
  const error = (found as { error?: { message?: string; hint?: string } } | undefined)?.error;
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

/** Exchanges a one-time link for a session, or looks for the present one. */
export async function enterFleet(link?: string): Promise<FleetSession> {
  if (!link) return send<FleetSession>('GET', '/v1/sign-in');
  const session = await send<FleetSession & { key: string }>('POST', '/v1/sign-in', { link });
  pageKey.set(session.key);
  return session;
}

export async function leaveFleet(): Promise<void> {
  await send('POST', '/v1/sign-out');
  pageKey.forget();
}

export const loadOverview = async () =>
  (await send<{ overview: FleetOverview }>('GET', '/v1/overview')).overview;

export const listDecisionValues = async () =>
  (await send<{ values: DecisionValue[] }>('GET', '/v1/decisions/values')).values;

export const loadRecord = async (machine: string, record: string) =>
  (
    await send<{ record: RecordState }>(
      'GET',
      `/v1/machines/${encodeURIComponent(machine)}/records/${encodeURIComponent(record)}`,
    )
  ).record;

export const loadPolicy = () => send<FleetPolicy>('GET', '/v1/policy');

export const loadBundleChanges = (version: number) =>
  send<BundleChanges>('GET', `/v1/policy/bundles/${version}/changes`);

export const listRolloutStages = async () =>
  (await send<{ history: RolloutStage[] }>('GET', '/v1/policy/history')).history;

export const haltRollout = (ring: string) =>
  send('POST', `/v1/policy/rollouts/${encodeURIComponent(ring)}/halt`, {});

export const listApprovals = async (all: boolean) =>
  (
    await send<{ approvals: FleetApproval[] }>(
      'GET',
      withQuery('/v1/approvals', { all: all ? 'true' : undefined }),
    )
  ).approvals;
