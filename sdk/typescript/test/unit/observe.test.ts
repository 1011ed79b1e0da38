// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { PostToolUseEvent, ToolArgs } from "tenterhook";
import { expect, test } from "vitest";
import { changedFiles, Observer, TodoLists } from "../../src/observe.js";

function ran(tool: string, args: ToolArgs, more: Partial<PostToolUseEvent> = {}): PostToolUseEvent {
  return {
    eventType: "PostToolUse",
    sessionId: "s",
    timestamp: 7,
    metadata: { eventId: "e", source: "test", toolUseId: "t1" },
    tool,
    args,
    context: {
      workingDirectory: "/w",
      recentTools: [],
      tokenUsage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    },
    result: { success: true, output: "", duration: 1 },
    ...more,
  };
}

test.each<[string, PostToolUseEvent, string[]]>([
  ["Write", ran("Write", { file_path: "/a.ts" }), ["/a.ts"]],
  ["a notebook", ran("NotebookEdit", { notebook_path: "/n.ipynb" }), ["/n.ipynb"]],
  ["Gemini's", ran("write_file", { file_path: "/g" }), ["/g"]],
  [
    "a patch",
    ran("apply_patch", { input: "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b c\n" }),
    ["a", "b c"],
  ],
  [
    "by its class",
    ran("fs.put", { path: "/c" }, { metadata: { eventId: "", source: "", toolClass: "write" } }),
    ["/c"],
  ],
  ["Read", ran("Read", { file_path: "/a.ts" }), []],
  ["what failed", ran("Write", { file_path: "/a" }, { result: { success: false, output: "", duration: 0 } }), []],
  ["no path at all", ran("Write", {}), []],
])("files of %s", (_, event, files) => {
  expect(changedFiles(event)).toEqual(files);
});

// seed: 000-062
test("a whole list replaces the one before; tasks are made and changed one by one", () => {
  const todos = new TodoLists();
  const list = [{ content: "A", status: "in_progress", activeForm: "Doing A" }];
  expect(todos.apply(ran("TodoWrite", { todos: list }))).toEqual(list);
  expect(todos.apply(ran("Read", {}))).toBeUndefined();

  const other = { sessionId: "other" };
  todos.apply(ran("TaskCreate", { subject: "one" }, other));
  expect(todos.apply(ran("TaskCreate", { subject: "two" }, other))).toEqual([
    { content: "one", status: "pending", id: "1" },
    { content: "two", status: "pending", id: "2" },
  ]);
  expect(todos.apply(ran("TaskUpdate", { taskId: "1", status: "completed" }, other))).toEqual([
    { content: "one", status: "completed", id: "1" },
    { content: "two", status: "pending", id: "2" },
  ]);
  expect(todos.apply(ran("TaskUpdate", { taskId: 2, status: "deleted" }, other))).toMatchObject([{ id: "1" }]);
});

test("every listener is called with the session", () => {
  const observer = new Observer();
  const heard: unknown[] = [];
  observer.files.add((event) => heard.push(event));
  observer.todos.add((event) => heard.push(event));
  observer.receive(ran("Edit", { file_path: "/a" }));
  observer.receive(ran("TodoWrite", { todos: [{ content: "A", status: "pending" }] }));
  const where = { conversationId: "s", toolUseId: "t1", timestamp: 7 };
  expect(heard).toEqual([
    { ...where, file: "/a", toolName: "Edit" },
    { ...where, todos: [{ content: "A", status: "pending" }] },
  ]);
});
