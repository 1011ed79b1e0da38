// SPDX-License-Identifier: Apache-2.0 OR MIT
// Written by `tenterhook install`; `tenterhook uninstall pi` removes it, and an upgrade replaces it.
//
// pi waits for an extension without a limit, and goes on when one cannot be loaded. So this file has no dependencies and
// a deadline of its own. An error at `tool_call` blocks the tool: whatever goes wrong there is a denial.

import { spawn } from "node:child_process";

const SHIM = "@SHIM@";
/** Events at which a missing answer is a denial. */
const GUARDED = "@GUARDED@";
/** Events that are reported to Tenterhook. */
const WIRED = "@WIRED@";
/** More than Tenterhook itself takes, whatever it waits for. */
const DEADLINE_MS = "@DEADLINE_MS@";
/** Longer texts in a request to the model are instructions or the conversation, which are not reported. */
const MAX_PARAMETER_LETTERS = 200;

/** Tenterhook's reply; an empty object when no rule or hook matches. `signal` aborts when the user stops the agent. */
function ask(name, payload, signal) {
    return new Promise((resolve, reject) => {
        const fail = (why) => reject(new Error(`Tenterhook could not be asked: ${why}`));
        const child = spawn(SHIM, ["pi", name], { stdio: ["pipe", "pipe", "ignore"], signal });
        const timer = setTimeout(() => {
            child.kill("SIGKILL");
            fail(`no answer within ${DEADLINE_MS / 1000} s`);
        }, DEADLINE_MS);
        let reply = "";
        child.stdout.setEncoding("utf8").on("data", (text) => (reply += text));
        child.on("error", (error) => {
            clearTimeout(timer);
            fail(signal?.aborted ? "stopped by the user" : `${error.message}; install it again, or remove its extension`);
        });
        child.on("close", (code) => {
            clearTimeout(timer);
            if (code !== 0) return fail(`its hook program ended with ${code}`);
            try {
                resolve(reply.trim() ? JSON.parse(reply) : {});
            } catch {
                fail("its hook program did not answer in JSON");
            }
        });
        // A program that ends early has not read it all; its exit code says the rest.
        child.stdin.on("error", () => {});
        child.stdin.end(JSON.stringify(payload));
    });
}

/** Makes `target` equal to `source` without replacing it: pi runs the tool with the object it has. */
function become(target, source) {
    for (const key of Object.keys(target)) if (!(key in source)) delete target[key];
    Object.assign(target, source);
}

/** The text of a message. */
const textOf = (content) =>
    typeof content === "string"
        ? content
        : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** Numbers, switches and names of a request to the model. */
const isParameter = ([, value]) =>
    ["number", "boolean"].includes(typeof value) || (typeof value === "string" && value.length <= MAX_PARAMETER_LETTERS);

function show(ctx, text, kind) {
    if (ctx.hasUI) ctx.ui.notify(text, kind);
    else process.stderr.write(`tenterhook: ${text}\n`);
}

export default function tenterhook(pi) {
    /** What the model said last. */
    let answer = "";
    /** Whether the agent goes on because a hook did not let it end. */
    let continued = false;

    /** Asks, does what is the same at every event, and returns the reply. */
    async function hook(name, ctx, fields, signal) {
        const payload = {
            hook_event_name: name,
            session_id: ctx.sessionManager.getSessionId(),
            transcript_path: ctx.sessionManager.getSessionFile(),
            cwd: ctx.cwd,
            model: ctx.model?.id,
            ...fields,
        };
        let reply;
        try {
            reply = await ask(name, payload, signal);
        } catch (error) {
            if (GUARDED.includes(name)) throw error;
            return {};
        }
        if (reply.message) show(ctx, reply.message, "warning");
        if (reply.stop) {
            show(ctx, reply.stop, "error");
            ctx.abort();
        }
        return reply;
    }

    const toolOf = (event) => ({
        tool_name: event.toolName,
        tool_input: event.input,
        tool_use_id: event.toolCallId,
        parent_tool_use_id: event.parentToolCallId,
    });

    const handlers = {
        session_start: async ({ reason }, ctx) => void (await hook("session_start", ctx, { reason })),

        input: async ({ text, images, source }, ctx) => {
            continued = false;
            const { decision, reason, context, stop } = await hook("input", ctx, { prompt: text, source });
            if (decision === "deny") show(ctx, reason, "error");
            if (decision === "deny" || stop) return { action: "handled" };
            if (context) return { action: "transform", text: `${text}\n\n${context}`, images };
        },

        before_provider_request: async ({ payload }, ctx) => {
            const request = Object.fromEntries(Object.entries(payload ?? {}).filter(isParameter));
            const { output } = await hook("before_provider_request", ctx, { llm_request: request });
            if (output) return { ...payload, ...output };
        },

        message_end: async ({ message }, ctx) => {
            if (message.role !== "assistant") return;
            answer = textOf(message.content);
            const fields = { last_assistant_message: answer, reason: message.stopReason, usage: message.usage };
            await hook("message_end", ctx, fields);
        },

        tool_call: async (event, ctx) => {
            const { decision, reason, args, stop } = await hook("tool_call", ctx, toolOf(event), ctx.signal);
            if (decision === "deny") return { block: true, reason, terminate: Boolean(stop) };
            if (args) become(event.input, args);
        },

        tool_result: async (event, ctx) => {
            const fields = { ...toolOf(event), tool_response: event.content, is_error: event.isError };
            const { output, reason, context } = await hook("tool_result", ctx, fields);
            const added = [reason, context].filter(Boolean).map((text) => ({ type: "text", text }));
            if (output !== undefined) {
                // What the tool returned for scripts goes with it: it says what was replaced.
                const text = typeof output === "string" ? output : JSON.stringify(output);
                return { content: [...(Array.isArray(output) ? output : [{ type: "text", text }]), ...added] };
            }
            if (added.length) return { content: [...event.content, ...added], structuredContent: event.structuredContent };
        },

        agent_before_settle: async (event, ctx) => {
            const fields = { last_assistant_message: answer, stop_hook_active: continued, reason: event.outcome };
            const { decision, reason, stop } = await hook("agent_before_settle", ctx, fields);
            if (decision !== "deny" || stop || event.outcome !== "completed") return;
            continued = true;
            const entry = { type: "custom_message", customType: "tenterhook", content: reason, display: true };
            return { entries: [...event.entries, entry], continue: true };
        },

        user_bash: async ({ command, cwd }, ctx) => void (await hook("user_bash", ctx, { command, cwd })),

        session_before_compact: async ({ reason, customInstructions }, ctx) => {
            const fields = { trigger: reason, custom_instructions: customInstructions };
            const reply = await hook("session_before_compact", ctx, fields);
            if (reply.decision === "deny") {
                show(ctx, reply.reason, "error");
                return { cancel: true };
            }
        },

        session_compact: async ({ reason }, ctx) => void (await hook("session_compact", ctx, { trigger: reason })),

        session_shutdown: async ({ reason }, ctx) => void (await hook("session_shutdown", ctx, { reason })),
    };
    for (const [name, handler] of Object.entries(handlers)) if (WIRED.includes(name)) pi.on(name, handler);
}
