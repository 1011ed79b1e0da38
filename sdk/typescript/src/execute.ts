// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { Channel } from "./connection/channel.js";
import type { ToolArgs, ToolResult } from "./events/index.js";

/** Runs a tool in a session of the daemon's own agent. */
export async function executeTool(
  channel: Channel,
  sessionId: string,
  tool: string,
  args: ToolArgs,
): Promise<ToolResult> {
  const timeoutMs = typeof args.timeout === "number" ? args.timeout : 0;
  const request = { sessionId, tool, args: Buffer.from(JSON.stringify(args)), timeoutMs };
  const { result } = await channel.call(channel.agent, channel.agent.executeTool, request);
  return JSON.parse(result.toString()) as ToolResult;
}
