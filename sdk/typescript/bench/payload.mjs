// SPDX-License-Identifier: Apache-2.0 OR MIT

/** An event as a hook receives it. */
export const PAYLOAD = Buffer.from(
  JSON.stringify({
    eventType: "PreToolUse",
    sessionId: "bench",
    timestamp: 1794700000000,
    metadata: { eventId: "01K0000000000000000000000A", source: "claude-code", nativeEvent: "PreToolUse" },
    tool: "Bash",
    args: { command: "npm test", description: "runs the tests of this package" },
    context: {
      workingDirectory: "/repo",
      recentTools: ["Read", "Edit"],
      tokenUsage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    },
  }),
);
