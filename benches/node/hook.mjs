// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A typical hook script: it reads the payload, looks for bad commands, appends a line to a log, and answers.
import { appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let text = "";
for await (const chunk of process.stdin) text += chunk;
const payload = JSON.parse(text);
const command = payload.tool_input?.command ?? "";
const bad = [/rm\s+-rf\s+[~/]/, /curl[^|]*\|\s*(ba)?sh/, /git\s+push\s+--force/].some((one) => one.test(command));
appendFileSync(join(tmpdir(), "tenterhook-bench-hook.log"), JSON.stringify({ at: Date.now(), command, bad }) + "\n");
if (bad) {
  const decision = { permissionDecision: "deny", permissionDecisionReason: "not here" };
  process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...decision } }));
}
