// SPDX-License-Identifier: Apache-2.0 OR MIT

// The cases of the A3S hook design in tests/cases, through this package and a real daemon.

import { readFileSync } from "node:fs";
import type { FiredEvent, FireResult, HookConfig, HookMatcher, HookResponse, TenterhookClient } from "tenterhook";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Daemon } from "./daemon.js";

interface Case {
  id: string;
  dialect: string;
  config: (HookConfig & { matcher?: HookMatcher; registered_same_event?: number })[];
  input: FiredEvent;
  outputs: (HookResponse & { timed_out?: boolean; reason?: string; delay?: number })[];
  expect: Record<string, unknown>;
}

const cases = readFileSync(new URL("../../../../tests/cases/claude_a3s.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Case)
  .filter(({ dialect }) => dialect === "a3s-design");

let daemon: Daemon;
let client: TenterhookClient;

beforeAll(async () => {
  daemon = await Daemon.start();
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

beforeEach(() => {
  client = daemon.client({ onError: () => {} });
});

afterEach(async () => {
  await client.close();
});

/** The cases use `rm -rf /`, which a rule denies for any answer of a hook; it is replaced by a harmless command. */
function harmless({ input }: Case): FiredEvent {
  const { args, ...event } = input as FiredEvent & { args: Record<string, unknown> };
  return { ...event, args: { ...args, ...(args.command !== undefined && { command: "ls" }) } } as FiredEvent;
}

/** Registers a hook for each output, with the settings of the case; returns which of them were called. */
async function arrange({ config, outputs, input }: Case): Promise<number[]> {
  const asked: number[] = [];
  for (const [index, { timed_out, ...output }] of outputs.entries()) {
    const { matcher, ...settings } = config[index] ?? {};
    client.registerHook(input.eventType as "PreToolUse", {
      ...(matcher && { matcher }),
      config: { ...settings, ...(timed_out && { timeout: 100 }) },
      handler: async () => {
        asked.push(index);
        if (timed_out) await new Promise((resolve) => setTimeout(resolve, 1000));
        return output;
      },
    });
  }
  await client.ready();
  return asked;
}

const checks: Record<string, (found: Case) => Promise<void>> = {
  "a3s-001-block": async (found) => {
    await arrange(found);
    expect(await client.fire(harmless(found))).toMatchObject({ action: "block", reason: found.expect.reason });
  },
  "a3s-003-continue-modified": async (found) => {
    await arrange(found);
    const { action, modified }: FireResult = await client.fire(harmless(found));
    expect([action, modified?.args]).toEqual(["continue", found.expect.effective_args]);
  },
  "a3s-005-retry": async (found) => {
    const asked = await arrange(found);
    const began = Date.now();
    const { action, reason } = await client.fire(harmless(found));
    expect([action, reason]).toEqual(["block", expect.stringMatching(/again|retry/i)]);
    expect(asked.filter((hook) => hook === 0).length).toBeGreaterThan(1);
    expect(Date.now() - began).toBeGreaterThanOrEqual(found.expect.delay_ms as number);
  },
  "a3s-007-timeout-continue": async (found) => {
    await arrange(found);
    const { action, outcome } = await client.fire(harmless(found));
    expect([action, JSON.stringify(outcome)]).toEqual(["continue", expect.stringMatching(/100 ?ms|timed|time-out/i)]);
  },
  "a3s-009-limits-per-event": async (found) => {
    const number = found.config[0]?.registered_same_event ?? 0;
    for (let index = 0; index < number; index += 1) client.registerHook("PreToolUse", () => {});
    await client.ready();
    client.registerHook("PreToolUse", () => {});
    await expect(client.ready()).rejects.toThrow(found.expect.register_error as string);
  },
  "a3s-011-matcher-path": async (found) => {
    const asked = await arrange(found);
    await client.fire(found.input);
    expect(asked).toEqual([0]);
  },
  "a3s-013-async-fire-and-forget": async (found) => {
    await arrange(found);
    expect(await client.fire(harmless(found))).toMatchObject({ action: found.expect.decision });
  },
};

test.each(cases.map((found) => [found.id, found] as const))("%s", async (id, found) => {
  const check = checks[id];
  expect(check, "a case that nobody runs").toBeDefined();
  await check?.(found);
});
