// SPDX-License-Identifier: Apache-2.0 OR MIT

import { type TenterhookClient, tenterhookHooks } from 'tenterhook';

// === Log file changes ===

export function logFileChanges(client: TenterhookClient, emitFileChange: (path: string) => void) {
  return tenterhookHooks(client, {
    hooks: {
      PostToolUse: [{
        matcher: 'Write|Edit',  // Match Write or Edit
        hooks: [async (input) => {
          console.log('File changed:', input.tool_input?.file_path);
          // Notify UI
          emitFileChange(input.tool_input?.file_path);
          return { continue: true };
        }]
      }]
    }
  });
}

// === Track todo updates ===

export function trackTodos(client: TenterhookClient, emitTodoUpdate: (todos: unknown) => void) {
  return tenterhookHooks(client, {
    hooks: {
      PostToolUse: [{
        matcher: 'TodoWrite',
        hooks: [async (input) => {
          const todos = input.tool_input?.todos;
          // Update UI with todo state
          emitTodoUpdate(todos);
          return { continue: true };
        }]
      }]
    }
  });
}

// === Block dangerous commands ===

export function blockDangerous(client: TenterhookClient) {
  return tenterhookHooks(client, {
    hooks: {
      PreToolUse: [{
        matcher: 'Bash',
        hooks: [async (input) => {
          const command = input.tool_input?.command;

          if (command?.includes('rm -rf')) {
            return {
              hookSpecificOutput: {
                hookEventName: 'PreToolUse',
                permissionDecision: 'deny',
                permissionDecisionReason: 'Dangerous command blocked'
              }
            };
          }

          return { continue: true };
        }]
      }]
    }
  });
}

// === Modify tool input ===

export function addHeader(client: TenterhookClient) {
  return tenterhookHooks(client, {
    hooks: {
      PreToolUse: [{
        matcher: 'Write',
        hooks: [async (input) => {
          // Add header to all written files
          const content = input.tool_input?.content;
          const modifiedContent = `// Auto-generated\n${content}`;

          return {
            hookSpecificOutput: {
              hookEventName: 'PreToolUse',
              permissionDecision: 'allow',
              updatedInput: {
                ...input.tool_input,
                content: modifiedContent
              }
            }
          };
        }]
      }]
    }
  });
}

// === Subagent coordination ===

export function coordinateSubagents(
  client: TenterhookClient,
  notifyAgentComplete: (id: string, transcript: string) => void,
) {
  return tenterhookHooks(client, {
    hooks: {
      SubagentStop: [{
        hooks: [async (input) => {
          console.log('Subagent completed:', input.agent_id);
          // Notify orchestrator
          notifyAgentComplete(input.agent_id, input.agent_transcript_path);
          return { continue: true };
        }]
      }]
    }
  });
}

// === Add context to prompts ===

export function tellTheTime(client: TenterhookClient) {
  return tenterhookHooks(client, {
    hooks: {
      UserPromptSubmit: [{
        hooks: [async (input) => {
          // Add current time context
          return {
            hookSpecificOutput: {
              hookEventName: 'UserPromptSubmit',
              additionalContext: `Current time: ${new Date().toISOString()}`
            }
          };
        }]
      }]
    }
  });
}

// === Timeouts ===

/** The Agent SDK counts in seconds; a number above 3600 is read as milliseconds, as in older documents. */
export function twoMinutes(client: TenterhookClient) {
  return tenterhookHooks(client, {
    hooks: {
      PreToolUse: [{
        hooks: [/* ... */],
        timeout: 120000  // 2 minutes
      }]
    }
  });
}

// === Async hooks ===

/** Long work continues in the background; the agent does not wait for it. */
export function indexInTheBackground(client: TenterhookClient, index: (path: string) => Promise<void>) {
  return tenterhookHooks(client, {
    hooks: {
      PostToolUse: [{
        matcher: 'Write|Edit',
        hooks: [async (input) => {
          void index(input.tool_input?.file_path);
          return { async: true, asyncTimeout: 30000 };
        }]
      }]
    }
  });
}
