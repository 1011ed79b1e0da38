// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { PostToolUseEvent } from "./events/index.js";

/** A file that an agent has written or edited. */
export interface FileChanged {
  /** The session it happened in. */
  conversationId: string;
  file: string;
  toolUseId: string | undefined;
  toolName: string;
  timestamp: number;
}

/** One thing on an agent's list. */
export interface TodoItem {
  content: string;
  /** `pending`, `in_progress`, `completed`, or as the harness says it. */
  status: string;
  /** How it is called while it is done. */
  activeForm?: string;
  id?: string;
}

/** An agent's list of what is to do, whole, after it changed. */
export interface TodoUpdate {
  conversationId: string;
  todos: TodoItem[];
  toolUseId: string | undefined;
  timestamp: number;
}

const WRITING = new Set(["write", "edit", "patch"]);
const WRITING_TOOLS = /^(Write|Edit|MultiEdit|NotebookEdit|write_file|replace|edit_file|create_file|apply_patch)$/;
const PATHS = ["file_path", "notebook_path", "path", "absolute_path", "filePath", "target_file"];
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

/** The files that a tool call has changed. What a shell command does to files is not told here. */
export function changedFiles({ tool, args, result, metadata }: PostToolUseEvent): string[] {
  const writes = metadata.toolClass ? WRITING.has(metadata.toolClass) : WRITING_TOOLS.test(tool);
  if (!writes || !result.success) return [];
  const named = PATHS.map((key) => args[key]).find((path) => typeof path === "string" && path !== "");
  if (named !== undefined) return [named as string];
  const patch = args.patch ?? args.input;
  return typeof patch === "string" ? [...patch.matchAll(PATCHED)].map((match) => match[1] ?? "") : [];
}

/** How many sessions' lists are kept. */
const KEPT_SESSIONS = 500;

/** The lists of what is to do, by session. Most agents send the whole list; some change one item at a time. */
export class Todos {
  readonly #lists = new Map<string, TodoItem[]>();

  /** The list after this tool call, if it is about the list at all. */
  after({ tool, args, sessionId, result }: PostToolUseEvent): TodoItem[] | undefined {
    if (!result.success) return undefined;
    if (tool === "TodoWrite" || tool === "todo_write" || tool === "write_todos" || tool === "update_plan") {
      const items = args.todos ?? args.plan;
      return Array.isArray(items) ? this.#set(sessionId, items.map(item)) : undefined;
    }
    const before = this.#lists.get(sessionId) ?? [];
    const id = text(args, "taskId", "task_id", "id");
    if (tool === "TaskCreate") {
      // The id is only known from the answer; tasks are numbered as they are made.
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
    // The session that was heard of last is the last to be forgotten.
    this.#lists.delete(sessionId);
    this.#lists.set(sessionId, todos);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > KEPT_SESSIONS && oldest !== undefined) this.#lists.delete(oldest);
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

/** Who wants to know about files and lists. One hook serves them all. */
export class Observer {
  readonly files = new Set<(changed: FileChanged) => void>();
  readonly todos = new Set<(update: TodoUpdate) => void>();
  readonly #lists = new Todos();

  get isIdle(): boolean {
    return this.files.size === 0 && this.todos.size === 0;
  }

  /** A tool has run. */
  see(event: PostToolUseEvent): void {
    const { sessionId: conversationId, timestamp, metadata, tool: toolName } = event;
    const { toolUseId } = metadata;
    for (const file of changedFiles(event)) {
      for (const tell of this.files) tell({ conversationId, file, toolUseId, toolName, timestamp });
    }
    const todos = this.#lists.after(event);
    if (!todos) return;
    for (const tell of this.todos) tell({ conversationId, todos, toolUseId, timestamp });
  }
}
