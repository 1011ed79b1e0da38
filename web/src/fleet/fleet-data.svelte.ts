// SPDX-License-Identifier: Apache-2.0 OR MIT

// The session, and the overview, open alerts, counts and waiting approvals, which several pages show. They are fetched
// every few seconds while the page is visible.

import {
  enterFleet,
  type FleetAlert,
  type FleetApproval,
  type FleetOverview,
  FleetRequestError,
  type FleetSession,
  type HourlyCount,
  leaveFleet,
  listAlerts,
  listApprovals,
  listCounts,
  loadOverview,
} from './fleet-api';

/** Interval between two refreshes, in milliseconds. */
const REFRESH_MS = 5000;
/** Time range of the counts, in milliseconds. */
const COUNTS_MS = 7 * 86_400_000;

const ROLES = ['viewer', 'author', 'approver', 'admin'];

class FleetData {
  /** Whether the browser is signed in. */
  access = $state<'checking' | 'open' | 'closed'>('checking');
  session = $state.raw<FleetSession>();
  /** Why the browser is not signed in. */
  closedWhy = $state.raw<FleetRequestError>();
  overview = $state.raw<FleetOverview>();
  alerts = $state.raw<FleetAlert[]>([]);
  approvals = $state.raw<FleetApproval[]>([]);
  counts = $state.raw<HourlyCount[]>([]);
  failed = $state.raw<FleetRequestError>();
  /** Time of the first failed refresh since the last successful one. */
  failedAt = $state<number>();
  /** Time of the last refresh. */
  now = $state(Date.now());

  /** Signs in, then fetches the data again and again. Returns a function that stops. */
  start(link?: string): () => void {
    void this.#enter(link);
    const timer = setInterval(() => {
      if (!document.hidden && this.access === 'open') void this.refresh();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }

  async #enter(link?: string) {
    try {
      this.session = await enterFleet(link);
      this.access = 'open';
      await this.refresh();
    } catch (error) {
      this.#close(error);
    }
  }

  #close(error: unknown) {
    this.closedWhy = error instanceof FleetRequestError ? error : new FleetRequestError(0, String(error));
    this.access = 'closed';
  }

  async leave() {
    await leaveFleet();
    this.#close(new FleetRequestError(0, 'you signed out'));
  }

  /** Whether the role of the operator includes this one. The server checks it again. */
  may(role: FleetSession['role']): boolean {
    return ROLES.indexOf(this.session?.role ?? 'viewer') >= ROLES.indexOf(role);
  }

  async refresh() {
    try {
      const since = new Date(Date.now() - COUNTS_MS);
      [this.overview, this.alerts, this.counts, this.approvals] = await Promise.all([
        loadOverview(),
        listAlerts(false),
        listCounts(since),
        listApprovals(false),
      ]);
      [this.failed, this.failedAt] = [undefined, undefined];
    } catch (error) {
      // The session ended: it expired, or the key was revoked.
      if (error instanceof FleetRequestError && error.status === 403) this.#close(error);
      this.failed = error instanceof FleetRequestError ? error : new FleetRequestError(0, String(error));
      this.failedAt ??= Date.now();
    }
    this.now = Date.now();
  }
}

export const fleet = new FleetData();
