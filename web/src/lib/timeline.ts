// SPDX-License-Identifier: Apache-2.0 OR MIT

// Converts the steps of a session to rows. A call and its result are one row.

import type { SessionDetails, TimelineStep } from './api/types';

export interface Row {
  step: TimelineStep;
  /** Result of the call. */
  result?: TimelineStep;
  /** Id of the subagent; undefined for the main agent. */
  agent?: string;
}

const ENDS = new Set(['post-tool', 'tool-error']);

export const agentOf = (step: TimelineStep): string | undefined =>
  (step.agent as { id?: string } | null | undefined)?.id ?? undefined;

/** Builds rows, newest first, from steps, oldest first. */
export function rows(steps: TimelineStep[]): Row[] {
  const open = new Map<string, Row>();
  const made: Row[] = [];
  for (const step of steps) {
    const call = step.tool_use_id ? open.get(step.tool_use_id) : undefined;
    if (call && ENDS.has(step.event ?? '')) {
      call.result = step;
      continue;
    }
    const row = { step, agent: agentOf(step) };
    made.push(row);
    if (step.tool_use_id && step.event === 'pre-tool') open.set(step.tool_use_id, row);
  }
  return made.reverse();
}

/** Merges steps without duplicates. */
export function joined(known: TimelineStep[], more: TimelineStep[]): TimelineStep[] {
  const all = new Map([...known, ...more].map((step) => [step.seq, step]));
  return [...all.values()].sort((a, b) => a.seq - b.seq);
}

export interface Lane {
  id: string;
  title: string;
  from: number;
  to: number;
}

/** One lane per subagent, in order of their start. */
export function lanes(agents: SessionDetails['agents']): Lane[] {
  return agents.map((agent) => ({
    id: agent.id,
    title: agent.type ?? agent.id,
    from: Date.parse(agent.started),
    to: agent.ended ? Date.parse(agent.ended) : Number.POSITIVE_INFINITY,
  }));
}
