// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// mcp-server.mjs FILE SERVER: an MCP server on standard input and output with two tools, `note` and `erase`.
// Each call appends one line to FILE, `SERVER TOOL RECORD`, so that a test can check whether the call reached
// the server.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file, server] = process.argv.slice(2);
const inputSchema = { type: "object", properties: { record: { type: "string" } }, required: ["record"] };
const tools = ["note", "erase"].map((name) => ({ name, description: `${name} a record`, inputSchema }));

const answers = {
    initialize: ({ protocolVersion }) => ({
        protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: server, version: "1.0.0" },
    }),
    "tools/list": () => ({ tools }),
    "tools/call": ({ name, arguments: { record } }) => {
        appendFileSync(file, `${server} ${name} ${record}\n`);
        return { content: [{ type: "text", text: `${name}: ${record}` }] };
    },
    ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    // A message without an id is a notification, which gets no reply.
    if (id === undefined) return;
    const answer = answers[method];
    const said = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: `no ${method}` } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
});
