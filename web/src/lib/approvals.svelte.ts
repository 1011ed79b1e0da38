// SPDX-License-Identifier: Apache-2.0 OR MIT

// The calls that wait for an approval: one list for the title, the icon, the banner, notifications and the page.

import { call, errorText } from './api/client';
import type { Approval } from './api/types';
import { live } from './live.svelte';
import { go } from './router.svelte';

/** Proof that the daemon requires for an approval from this browser. */
export type ApprovalNeeds = 'code' | 'tty' | 'nothing';
export type NotificationState = 'off' | 'on' | 'blocked' | 'unsupported';

/** Interval in milliseconds at which a hidden page asks for waiting calls. */
const HIDDEN_POLL_MS = 10_000;
const NOTIFY_KEY = 'tenterhook-notify';

class PendingApprovals {
  /** Undefined until the daemon has answered. */
  pending = $state.raw<Approval[]>();
  failed = $state('');
  needs = $state<ApprovalNeeds>();
  /** Updated every second while a call waits. */
  now = $state(Date.now());
  notifications = $state<NotificationState>(readState());
  #known = new Set<string>();
  #clock?: ReturnType<typeof setInterval>;

  /** Follows the list. Returns a function that stops. */
  start(): () => void {
    void this.load();
    void this.loadNeeds();
    live.keepsHidden = () => this.notifications === 'on';
    // The stream of a hidden page ends, but its title still shows how many calls wait.
    const poll = setInterval(() => {
      if (document.hidden && !live.connected) void this.load();
    }, HIDDEN_POLL_MS);
    const ends = [
      live.on('approvals', (news) => this.#set(news.at(-1)?.pending ?? [])),
      live.on('hello', () => void this.load()),
    ];
    return () => {
      clearInterval(this.#clock);
      clearInterval(poll);
      for (const end of ends) end();
    };
  }

  async load() {
    try {
      const { pending } = await call('listApprovals', {});
      this.failed = '';
      this.#set(pending);
    } catch (error) {
      this.failed = errorText(error).message;
    }
  }

  async loadNeeds() {
    try {
      this.needs = (await call('getAuthority', { query: { action: 'approve' } })).needs;
    } catch {
      // Without an answer, the dialog asks the daemon again.
    }
  }

  /** Turns notifications of this browser on or off. */
  async setNotifications(on: boolean) {
    if (on && typeof Notification !== 'undefined') await Notification.requestPermission();
    localStorage.setItem(NOTIFY_KEY, on ? 'on' : 'off');
    this.notifications = readState();
  }

  #set(pending: Approval[]) {
    const isFirst = this.pending === undefined;
    const fresh = pending.filter((one) => !this.#known.has(one.id));
    this.#known = new Set(pending.map((one) => one.id));
    this.pending = pending;
    this.now = Date.now();
    clearInterval(this.#clock);
    if (pending.length > 0)
      this.#clock = setInterval(() => {
        this.now = Date.now();
      }, 1000);
    if (!isFirst || document.hidden) for (const one of fresh) this.#notify(one);
  }

  #notify(approval: Approval) {
    if (this.notifications !== 'on' || document.hasFocus()) return;
    const title = `${approval.source} waits for your approval`;
    const shown = new Notification(title, {
      body: approval.wants,
      tag: approval.id,
      requireInteraction: true,
    });
    shown.onclick = () => {
      focus();
      go(['approvals']);
      shown.close();
    };
  }
}

function readState(): NotificationState {
  if (typeof Notification === 'undefined') return 'unsupported';
  if (localStorage.getItem(NOTIFY_KEY) !== 'on') return 'off';
  return Notification.permission === 'granted' ? 'on' : 'blocked';
}

/** Seconds until an approval is denied. */
export const secondsLeft = (approval: Approval, now: number): number =>
  Math.max(0, (Date.parse(approval.until) - now) / 1000);

export const approvals = new PendingApprovals();
