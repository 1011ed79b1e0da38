// SPDX-License-Identifier: Apache-2.0 OR MIT

// Machines, open alerts and counts, which several pages show. They are fetched every few seconds while the page is
// visible.

import {
  type FleetAlert,
  type FleetMachine,
  FleetRequestError,
  type HourlyCount,
  listAlerts,
  listCounts,
  listMachines,
} from './fleet-api';

/** Interval between two refreshes, in milliseconds. */
const REFRESH_MS = 5000;
/** Time range of the counts, in milliseconds. */
const COUNTS_MS = 7 * 86_400_000;

class FleetData {
  machines = $state.raw<FleetMachine[]>([]);
  alerts = $state.raw<FleetAlert[]>([]);
  counts = $state.raw<HourlyCount[]>([]);
  /** Whether data has been fetched once. */
  loaded = $state(false);
  failed = $state.raw<FleetRequestError>();
  /** Time of the first failed refresh since the last successful one. */
  failedAt = $state<number>();
  /** Time of the last refresh. */
  now = $state(Date.now());

  /** Fetches the data again and again. Returns a function that stops. */
  start(): () => void {
    void this.refresh();
    const timer = setInterval(() => {
      if (!document.hidden) void this.refresh();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }

  async refresh() {
    try {
      const since = new Date(Date.now() - COUNTS_MS);
      [this.machines, this.alerts, this.counts] = await Promise.all([
        listMachines(),
        listAlerts(false),
        listCounts(since),
      ]);
      [this.loaded, this.failed, this.failedAt] = [true, undefined, undefined];
    } catch (error) {
      this.failed = error instanceof FleetRequestError ? error : new FleetRequestError(0, String(error));
      this.failedAt ??= Date.now();
    }
    this.now = Date.now();
  }
}

export const fleet = new FleetData();
