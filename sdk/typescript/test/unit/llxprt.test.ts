// SPDX-License-Identifier: Apache-2.0 OR MIT

import {
  AfterModelHookOutput,
  type ApplyOptions,
  BeforeModelHookOutput,
  BeforeToolHookOutput,
  type BeforeToolInput,
  type BeforeToolOutput,
  BeforeToolSelectionHookOutput,
  type BeforeToolSelectionOutput,
  DefaultHookOutput,
  EXIT_CODE_BLOCKING_ERROR,
  EXIT_CODE_NON_BLOCKING_ERROR,
  EXIT_CODE_SUCCESS,
  HookEventName,
  type SettingsHooks,
} from "tenterhook/llxprt";
import { expect, test } from "vitest";

// seed: 002-060, 002-061, 002-062
test("exit codes and events are those of the reference", () => {
  expect([EXIT_CODE_SUCCESS, EXIT_CODE_NON_BLOCKING_ERROR, EXIT_CODE_BLOCKING_ERROR]).toEqual([0, 1, 2]);
  expect(Object.values(HookEventName)).toHaveLength(11);
});

// seed: 002-008, 002-026
test("the reference's examples are of these types", () => {
  const settings: SettingsHooks = {
    hooks: {
      BeforeTool: [
        {
          matcher: "write_*",
          sequential: false,
          hooks: [{ type: "command", command: "~/.llxprt/hooks/security.sh", timeout: 5000 }],
        },
      ],
      AfterTool: [{ hooks: [{ type: "command", command: "~/.llxprt/hooks/audit.sh" }] }],
    },
  };
  const input: BeforeToolInput = {
    session_id: "abc123",
    hook_event_name: "BeforeTool",
    cwd: "/home/user/project",
    timestamp: "2025-02-18T16:30:00.000Z",
    transcript_path: "",
    tool_name: "write_file",
    tool_input: { path: "/home/user/project/file.txt", content: "Hello, world!" },
  };
  expect([Object.keys(settings.hooks), input.tool_name]).toEqual([["BeforeTool", "AfterTool"], "write_file"]);
});

// seed: 002-044, 002-077, 002-078
test("a deny blocks with its reason; other spellings do not", () => {
  const block: BeforeToolOutput = { decision: "deny", reason: "Writing to /etc is prohibited" };
  const output = new BeforeToolHookOutput(block);
  expect(output.getBlockingError()).toEqual({ blocked: true, reason: "Writing to /etc is prohibited" });
  expect(new DefaultHookOutput({ decision: "block" }).isBlockingDecision()).toBe(true);
  expect(new DefaultHookOutput({ decision: "DENY" as "deny" }).isBlockingDecision()).toBe(false);
  expect(new DefaultHookOutput().getBlockingError()).toEqual({ blocked: false, reason: "" });
});

test("the reason is `reason`, then `stopReason`, then none", () => {
  const reason = (output: object) => new DefaultHookOutput(output).getEffectiveReason();
  expect(reason({ reason: "R", stopReason: "S" })).toBe("R");
  expect(reason({ reason: "", stopReason: "S" })).toBe("S");
  expect(reason({})).toBe("No reason provided");
});

test("a stop is not a block", () => {
  const output = new DefaultHookOutput({ continue: false, stopReason: "enough" });
  expect([output.shouldStopExecution(), output.isBlockingDecision()]).toEqual([true, false]);
  expect(new DefaultHookOutput({ continue: true }).shouldStopExecution()).toBe(false);
});

test("permissionDecision counts before a tool, and nowhere else", () => {
  const said = { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "P" } };
  expect(new BeforeToolHookOutput(said).getBlockingError()).toEqual({ blocked: true, reason: "P" });
  expect(new DefaultHookOutput(said).isBlockingDecision()).toBe(false);
});

// seed: 002-078, 002-079
test("context and changed input are given as they are", () => {
  const context = { hookSpecificOutput: { hookEventName: "AfterTool", additionalContext: "look" } };
  expect(new DefaultHookOutput(context).getAdditionalContext()).toBe("look");
  const tool_input = { path: "/safe/path/file.txt", content: "Modified content" };
  const modify = { decision: "allow" as const, hookSpecificOutput: { tool_input } };
  expect(new BeforeToolHookOutput(modify).getModifiedToolInput()).toEqual(tool_input);
  expect(new BeforeToolHookOutput({ hookSpecificOutput: { tool_input: "x" } }).getModifiedToolInput()).toBeUndefined();
});

test("a request is changed as the hook requests", () => {
  const target = {
    model: "m",
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    config: { temperature: 1, topP: 0.5, seed: 3 },
  };
  const apply = (llm_request: object) =>
    new BeforeModelHookOutput({ hookSpecificOutput: { llm_request } }).applyLLMRequestModifications(target);
  expect(apply({ contents: [{ role: "user", parts: ["a", { text: "b" }] }] })).toEqual({
    ...target,
    contents: [{ role: "user", parts: [{ text: "ab" }] }],
  });
  expect(apply({ model: "n", generationConfig: { temperature: 0 } })).toEqual({
    ...target,
    model: "n",
    config: { temperature: 0, topP: 0.5, seed: 3 },
  });
  expect(new BeforeModelHookOutput().applyLLMRequestModifications(target)).toBe(target);
});

// seed: 002-057, 002-058, 002-059, 002-080
test("a partial request is merged, and replaces four values only on request", () => {
  const target = { model: "m", contents: [], config: { temperature: 0.9, topP: 0.5, seed: 3 } };
  const config = (llm_request: object, options?: ApplyOptions) => {
    const output = new BeforeModelHookOutput({ hookSpecificOutput: { llm_request } });
    return output.applyLLMRequestModifications(target, options).config;
  };
  const systemInstruction = { role: "system", parts: ["be", { text: " brief" }] };
  expect(config({ systemInstruction })).toEqual({
    ...target.config,
    systemInstruction: { role: "system", parts: [{ text: "be" }, { text: " brief" }] },
  });
  expect(config({ generationConfig: { stopSequences: ["END"] } })).toEqual({
    ...target.config,
    stopSequences: ["END"],
  });
  expect(config({ generationConfig: { temperature: 0.1 } })).toEqual({ ...target.config, temperature: 0.1 });
  expect(config({ generationConfig: { maxOutputTokens: 5 } })).toEqual({ ...target.config, maxOutputTokens: 5 });
  expect(config({ model: "n" })).toEqual(target.config);
  const replace = { partial: "replace" } as const;
  expect(config({ systemInstruction }, replace)).toEqual(target.config);
  expect(config({ generationConfig: { temperature: 0.1, stopSequences: ["END"] } }, replace)).toEqual({
    temperature: 0.1,
    seed: 3,
  });
});

// seed: 002-080, 002-082
test("an answer in place of the model has the model's format", () => {
  const content = { role: "model", parts: ["cached", { text: " answer" }] };
  const said = { hookSpecificOutput: { llm_response: { candidates: [{ content, finishReason: "STOP" }] } } };
  const expected = {
    candidates: [
      { content: { role: "model", parts: [{ text: "cached" }, { text: " answer" }] }, finishReason: "STOP" },
    ],
  };
  expect(new BeforeModelHookOutput(said).getSyntheticResponse()).toEqual(expected);
  expect(new AfterModelHookOutput(said).getModifiedResponse()).toEqual(expected);
  expect(new AfterModelHookOutput({}).getModifiedResponse()).toBeUndefined();
  const stopped = new AfterModelHookOutput({ continue: false, reason: "enough" }).getModifiedResponse();
  expect(stopped?.candidates[0]?.content.parts).toEqual([{ text: "enough" }]);
});

// seed: 002-056, 002-081
test("tools are restricted as in the reference's example", () => {
  const allowedFunctionNames = ["read_file", "list_directory", "glob"];
  const said: BeforeToolSelectionOutput = {
    hookSpecificOutput: { hookEventName: "BeforeToolSelection", toolConfig: { mode: "AUTO", allowedFunctionNames } },
  };
  const output = new BeforeToolSelectionHookOutput(said);
  expect(output.applyToolConfigModifications({})).toEqual({
    tools: [],
    toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames }, allowedFunctionNames },
  });
  const target = { tools: [1] };
  expect(new BeforeToolSelectionHookOutput().applyToolConfigModifications(target)).toBe(target);

  const toolConfig = { functionCallingConfig: { mode: "ANY" as const }, retrievalConfig: { languageCode: "en" } };
  expect(output.applyToolConfigModifications({ toolConfig }).toolConfig).toEqual({
    functionCallingConfig: { mode: "AUTO", allowedFunctionNames },
    allowedFunctionNames,
    retrievalConfig: { languageCode: "en" },
  });
  expect(output.applyToolConfigModifications({ toolConfig }, { partial: "replace" }).toolConfig).not.toHaveProperty(
    "retrievalConfig",
  );
});
