// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { PostToolUseEvent } from "./events/index.js";

/** A file that an agent has written or edited. */
export interface FileChanged {
  /** Id of the session. */
  conversationId: string;
  file: string;
  toolUseId: string | undefined;
  toolName: string;
  timestamp: number;
}

/** One item of an agent's to-do list. */
export interface TodoItem {
  content: string;
  /** `pending`, `in_progress`, `completed`, or any other status that the harness sends. */
  status: string;
  /** Wording of the item while it is in progress, such as `Fixing the test`. */
  activeForm?: string;
  id?: string;
}

/** The complete to-do list of an agent after a change. */
export interface TodoUpdate {
  conversationId: string;
  todos: TodoItem[];
  toolUseId: string | undefined;
  timestamp: number;
}

const WRITING_CLASSES = new Set(["write", "edit", "patch"]);
const WRITING_TOOLS = /^(Write|Edit|MultiEdit|NotebookEdit|write_file|replace|edit_file|create_file|apply_patch)$/;
const PATH_KEYS = ["file_path", "notebook_path", "path", "absolute_path", "filePath", "target_file"];
const PATCHED_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

/** Returns the files that a tool call has changed. Changes by shell commands are not detected. */
export function changedFiles({ tool, args, result, metadata }: PostToolUseEvent): string[] {
  const writes = metadata.toolClass ? WRITING_CLASSES.has(metadata.toolClass) : WRITING_TOOLS.test(tool);
  if (!writes || !result.success) return [];
  const named = PATH_KEYS.map((key) => args[key]).find((path) => typeof path === "string" && path !== "");
  if (named !== undefined) return [named as string];
  const patch = args.patch ?? args.input;
  return typeof patch === "string" ? [...patch.matchAll(PATCHED_FILE)].map((match) => match[1] ?? "") : [];
}

/** Maximum number of sessions whose to-do lists are kept. */
const MAX_SESSIONS = 500;

/** To-do lists by session. Most agents send the complete list; some change one item at a time. */
export class TodoLists {
  readonly #lists = new Map<string, TodoItem[]>();

  /** Applies a tool call and returns the new list; undefined if the call does not change the list. */
  apply({ tool, args, sessionId, result }: PostToolUseEvent): TodoItem[] | undefined {
    if (!result.success) return undefined;
    if (tool === "TodoWrite" || tool === "todo_write" || tool === "write_todos" || tool === "update_plan") {
      const items = args.todos ?? args.plan;
      return Array.isArray(items) ? this.#set(sessionId, items.map(item)) : undefined;
    }
    const before = this.#lists.get(sessionId) ?? [];
    const id = text(args, "taskId", "task_id", "id");
    if (tool === "TaskCreate") {
      // Without an id in the arguments, the task's number is used: agents number tasks in the order of creation.
      return this.#set(sessionId, [...before, { ...item(args), id: id ?? String(before.length + 1) }]);
    }
    if (tool !== "TaskUpdate" || id === undefined) return undefined;
    if (args.status === "deleted")
      return this.#set(
        sessionId,
        before.filter((todo) => todo.id !== id),
      );
    const { content, status, activeForm } = item(args);
    const changes = {
      ...(content !== "" && { content }),
      ...(typeof args.status === "string" && { status }),
      ...(activeForm !== undefined && { activeForm }),
    };
    return this.#set(
      sessionId,
      before.map((todo) => (todo.id === id ? { ...todo, ...changes } : todo)),
    );
  }

  #set(sessionId: string, todos: TodoItem[]): TodoItem[] {
    // Moves the session to the end, so that the least recently used one is removed first.
    this.#lists.delete(sessionId);
    this.#lists.set(sessionId, todos);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MAX_SESSIONS && oldest !== undefined) this.#lists.delete(oldest);
    return todos;
  }
}

function item(value: unknown): TodoItem {
  const fields = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const [activeForm, id] = [text(fields, "activeForm"), text(fields, "id")];
  return {
    content: text(fields, "content", "subject", "description", "step", "text") ?? "",
    status: text(fields, "status") ?? "pending",
    ...(activeForm !== undefined && { activeForm }),
    ...(id !== undefined && { id }),
  };
}

function text(fields: Record<string, unknown>, ...keys: string[]): string | undefined {
  const found = keys.map((key) => fields[key]).find((value) => typeof value === "string" || typeof value === "number");
  return found === undefined ? undefined : String(found);
}

/** Listeners for changed files and to-do lists. One hook serves all of them. */
export class Observer {
  readonly files = new Set<(changed: FileChanged) => void>();
  readonly todos = new Set<(update: TodoUpdate) => void>();
  readonly #lists = new TodoLists();

  get isIdle(): boolean {
    return this.files.size === 0 && this.todos.size === 0;
  }

  /** Handles a finished tool call. */
  receive(event: PostToolUseEvent): void {
    const { sessionId: conversationId, timestamp, metadata, tool: toolName } = event;
    const { toolUseId } = metadata;
    for (const file of changedFiles(event)) {
      for (const listener of this.files) listener({ conversationId, file, toolUseId, toolName, timestamp });
    }
    const todos = this.#lists.apply(event);
    if (!todos) return;
    for (const listener of this.todos) listener({ conversationId, todos, toolUseId, timestamp });
  }
}
