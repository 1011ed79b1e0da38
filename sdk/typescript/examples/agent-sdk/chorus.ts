// SPDX-License-Identifier: Apache-2.0 OR MIT

// A desktop app that shows what its agents do, without its window: the data that Electron sends and React renders.

import { type TenterhookClient, type TodoItem, tenterhookHooks } from 'tenterhook';

/** The part of Electron's window that is used here. */
export interface Window {
  webContents: { send(channel: string, payload: unknown): void };
}

// === Main process ===

export function trackFiles(client: TenterhookClient, mainWindow: Window, conversationId: string) {
  return tenterhookHooks(client, {
    hooks: {
      PostToolUse: [{
        hooks: [async (input, toolUseId) => {
          const toolName = input.tool_name;

          if (toolName === 'Write' || toolName === 'Edit') {
            const filePath = input.tool_input?.file_path;

            // Emit to renderer
            mainWindow.webContents.send('agent:file-changed', {
              conversationId,
              file: filePath,
              toolUseId
            });
          }

          return { continue: true };
        }]
      }]
    }
  });
}

// Track todo state from TodoWrite tool calls
export function interceptTodos(client: TenterhookClient, mainWindow: Window, conversationId: string) {
  return tenterhookHooks(client, {
    hooks: {
      PostToolUse: [{
        matcher: 'TodoWrite',
        hooks: [async (input) => {
          const todos = input.tool_input?.todos;

          // Emit to renderer
          mainWindow.webContents.send('agent:todo-update', {
            conversationId,
            todos
          });

          return { continue: true };
        }]
      }]
    }
  });
}

// === Renderer ===

/** The store behind the panels. Its data comes from the daemon, so agents of other programs are included. */
export function store(client: TenterhookClient) {
  const conversationFiles = new Map<string, string[]>();
  const conversationTodos = new Map<string, TodoItem[]>();

  // File changes
  client.onFileChanged((event) => {
    const files = conversationFiles.get(event.conversationId) || [];
    if (!files.includes(event.file)) {
      conversationFiles.set(event.conversationId, [...files, event.file]);
    }
  });

  // Todo updates
  client.onTodoUpdate((event) => {
    conversationTodos.set(event.conversationId, event.todos);
  });

  return { conversationFiles, conversationTodos };
}

/** The panel of a conversation: headings, and a row for each file and each to-do. */
export function conversationDetails({ conversationFiles, conversationTodos }: ReturnType<typeof store>, id: string) {
  const files = conversationFiles.get(id) ?? [];
  const todos = conversationTodos.get(id) ?? [];

  return [
    { heading: 'Files Changed', rows: files.map(file => ({ key: file, path: file })) },
    {
      heading: 'Todo List',
      rows: todos.map(todo => ({ key: todo.content, content: todo.content, status: todo.status }))
    }
  ];
}
