// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { FiredEvent, FireResult, TenterhookClient } from "tenterhook";

/** A hook for one task: it is unregistered at the end of the block, also after an error. */
export async function fireReadOnly(client: TenterhookClient, events: FiredEvent[]): Promise<FireResult[]> {
  await using _readOnly = await readOnly(client);
  // Without `await` the hook would be gone before the events are fired.
  return await Promise.all(events.map((event) => client.fire(event)));
}

/** A temporary hook for one turn of the daemon's agent. */
export async function generateReadOnly(client: TenterhookClient, sessionId: string, prompt: string): Promise<string> {
  await using _readOnly = await readOnly(client);
  const response = await client.generate(sessionId, prompt);
  return response.text;
}

function readOnly(client: TenterhookClient) {
  return client.temporaryHook("PreToolUse", async (event) => {
    if (event.tool === "Read") return { action: "continue" };
    return { action: "block", reason: "only reading, for now" };
  });
}
