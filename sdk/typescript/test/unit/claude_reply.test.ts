// SPDX-License-Identifier: Apache-2.0 OR MIT

// How the reply of a hook program is interpreted.

import { expect, test } from "vitest";

import { interpretReply } from "../../src/claude/bridge.js";

const reply = (exitCode: number, stdout = "", stderr = "") => {
  return interpretReply("PreToolUse", { stdout, stderr, exitCode });
};

test("only exit code 2 refuses, and other codes are failures", () => {
  expect(reply(2, "", "no\n")).toMatchObject({
    hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "no" },
  });
  expect([reply(0), reply(0, '{"a": 1}\n')]).toEqual([{}, { a: 1 }]);
  for (const [exitCode, stdout] of [
    [1, ""],
    [1, '{"a": 1}'],
    [127, ""],
    [0, "no JSON"],
    [0, "[1]"],
  ] as const) {
    expect(() => reply(exitCode, stdout)).toThrow();
  }
});
