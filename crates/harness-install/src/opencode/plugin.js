// SPDX-License-Identifier: Apache-2.0 OR MIT
// Written by `tenterhook install`; `tenterhook uninstall opencode` removes it, and an upgrade replaces it.
//
// OpenCode waits for a plugin for ever, and goes on without a word when one cannot be loaded. So this file has no
// dependencies, asks Tenterhook with a deadline of its own, and whatever goes wrong on the way is a "no" where a tool
// is about to run.

import { spawn } from "node:child_process";

const SHIM = "@SHIM@";
/** Where "no answer" means "no". */
const GUARDED = "@GUARDED@";
/** The hooks and the events of the bus that Tenterhook hears of. */
const WIRED = "@WIRED@";
/** Longer than Tenterhook itself takes, whatever it waits for. */
const DEADLINE_MS = "@DEADLINE_MS@";

/** What Tenterhook says about this; an empty object when nobody objects. */
function ask(payload, name) {
    return new Promise((resolve, reject) => {
        const fail = (why) => reject(new Error(`Tenterhook could not be asked: ${why}`));
        const child = spawn(SHIM, ["opencode", name], { stdio: ["pipe", "pipe", "ignore"] });
        const timer = setTimeout(() => {
            child.kill("SIGKILL");
            fail(`no answer within ${DEADLINE_MS / 1000} s`);
        }, DEADLINE_MS);
        let said = "";
        child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
        child.on("error", (error) => {
            clearTimeout(timer);
            fail(`${error.message}; install it again, or remove its plugin`);
        });
        child.on("close", (code) => {
            clearTimeout(timer);
            if (code !== 0) return fail(`it ended with ${code}`);
            try {
                resolve(said.trim() ? JSON.parse(said) : {});
            } catch {
                fail("it did not answer in JSON");
            }
        });
        // A program that ends early has not read it all; its exit code says the rest.
        child.stdin.on("error", () => {});
        child.stdin.end(JSON.stringify(payload));
    });
}

/** Makes `target` equal to `source` without replacing it: OpenCode goes on with the object it has. */
function become(target, source) {
    for (const key of Object.keys(target)) if (!(key in source)) delete target[key];
    Object.assign(target, source);
}

/** A model in as many words as are needed: the whole of it, and its provider, may hold keys. */
const modelOf = (input) => input.model && { id: input.model.id ?? input.model.modelID, providerID: input.model.providerID };

/**
 * A prompt that is refused. OpenCode answers an error that it does not know with a text of its own ("Unexpected server
 * error"), and one that it knows by its name with what `toObject` returns: so the reason is shown. Where that name means
 * nothing, the prompt is refused all the same.
 */
class PromptRefused extends Error {
    name = "ConfigInvalidError";
    toObject() {
        return { name: "UnknownError", data: { message: this.message } };
    }
}

export const Tenterhook = async ({ client, directory, worktree }) => {
    /** The sessions that another session has started. */
    const parents = new Map();

    /** Asks, obeys what holds for every hook, and gives the rest back. */
    async function hook(name, input, output, sessionID, called = name) {
        const asked = { hook: called, input, output, directory, worktree };
        const parentSessionID = parents.get(sessionID);
        let reply;
        try {
            reply = await ask(parentSessionID ? { ...asked, parentSessionID } : asked, name);
        } catch (error) {
            if (GUARDED.includes(name)) throw error;
            return {};
        }
        if (reply.message) {
            // There may be no screen to show it on.
            client.tui.showToast({ body: { message: reply.message, variant: "warning" } }).catch(() => {});
        }
        if (reply.stop) {
            await client.session.abort({ path: { id: sessionID } }).catch(() => {});
            throw new Error(reply.stop);
        }
        return reply;
    }

    const hooks = {
        event: async ({ event }) => {
            const { sessionID, info } = event.properties ?? {};
            if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID);
            if (event.type === "session.deleted") parents.delete(info?.id ?? sessionID);
            // The bus waits for nobody, and nobody hears what is thrown here.
            if (!WIRED.includes(event.type)) return;
            await hook(event.type, { event }, null, sessionID ?? info?.id, "event").catch(() => {});
        },

        "chat.message": async (input, output) => {
            const reply = await hook("chat.message", input, output, input.sessionID);
            if (reply.decision === "deny") throw new PromptRefused(reply.reason);
            const text = output.parts.findLast((part) => part.type === "text");
            if (reply.context && text) text.text += `\n\n${reply.context}`;
        },

        "chat.params": async (input, output) => {
            const { sessionID, agent } = input;
            const reply = await hook("chat.params", { sessionID, agent, model: modelOf(input) }, output, sessionID);
            if (reply.output) Object.assign(output, reply.output);
        },

        "experimental.chat.system.transform": async (input, output) => {
            const { sessionID } = input;
            const reply = await hook(
                "experimental.chat.system.transform",
                { sessionID, model: modelOf(input) },
                {},
                sessionID,
            );
            if (reply.context) output.system.push(reply.context);
        },

        "tool.execute.before": async (input, output) => {
            const reply = await hook("tool.execute.before", input, output, input.sessionID);
            if (reply.decision === "deny") throw new Error(reply.reason);
            if (reply.args) become(output.args, reply.args);
        },

        "tool.execute.after": async (input, output) => {
            const reply = await hook("tool.execute.after", input, output, input.sessionID);
            // A tool of OpenCode has a text there, one of an MCP server a list.
            const list = Array.isArray(output.content);
            if (reply.output !== undefined) {
                const text = typeof reply.output === "string" ? reply.output : JSON.stringify(reply.output);
                if (list) output.content = Array.isArray(reply.output) ? reply.output : [{ type: "text", text }];
                else output.output = text;
            }
            for (const text of [reply.reason, reply.context]) {
                if (!text) continue;
                if (list) output.content.push({ type: "text", text });
                else output.output = `${output.output ?? ""}\n\n${text}`;
            }
        },

        "experimental.text.complete": async (input, output) => {
            await hook("experimental.text.complete", input, output, input.sessionID);
        },

        "experimental.session.compacting": async (input, output) => {
            const reply = await hook("experimental.session.compacting", input, output, input.sessionID);
            if (reply.context) output.context.push(reply.context);
        },

        "command.execute.before": async (input, output) => {
            await hook("command.execute.before", input, output, input.sessionID);
        },
    };
    return Object.fromEntries(Object.entries(hooks).filter(([name]) => name === "event" || WIRED.includes(name)));
};
