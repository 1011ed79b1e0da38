// SPDX-License-Identifier: Apache-2.0 OR MIT

import { type TenterhookClient, tenterhookHooks } from 'tenterhook';

type Emit = (channel: string, path: string) => void;

/** Keep hooks fast. */
export function quick(client: TenterhookClient, emit: Emit, analyzeFileContents: (response: unknown) => Promise<void>) {
  return tenterhookHooks(client, {
    hooks: {
      PostToolUse: [{
        // Good: Quick notification
        hooks: [async (input) => {
          emit('file-changed', input.tool_input?.file_path);
          return { continue: true };
        }]
      }, {
        // Bad: Heavy processing
        hooks: [async (input) => {
          await analyzeFileContents(input.tool_response);  // Slow!
          return { continue: true };
        }]
      }]
    }
  });
}

/** Handle errors gracefully. */
export function graceful(client: TenterhookClient, notify: (input: unknown) => Promise<void>) {
  return tenterhookHooks(client, {
    hooks: {
      PostToolUse: [{
        hooks: [async (input) => {
          try {
            await notify(input);
          } catch (err) {
            console.error('Hook error:', err);
            // Don't block execution
          }
          return { continue: true };
        }]
      }]
    }
  });
}

/** Use matchers to reduce overhead. */
export function matched(client: TenterhookClient) {
  return tenterhookHooks(client, {
    hooks: {
      PreToolUse: [{
        // Good: Only runs for Write tools
        matcher: 'Write',
        hooks: [/* ... */]
      }, {
        // Less efficient: Runs for all tools, then filters
        hooks: [async (input) => {
          if (input.tool_name !== 'Write') return { continue: true };
          // ...
          return { continue: true };
        }]
      }]
    }
  });
}

/** Respect the signal. */
export function respectful(client: TenterhookClient, url: string) {
  return tenterhookHooks(client, {
    hooks: {
      PreToolUse: [{
        hooks: [async (input, toolUseId, { signal }) => {
          // Check if aborted
          if (signal.aborted) {
            return { continue: false };
          }

          // Pass to async operations
          await fetch(url, { signal });

          return { continue: true };
        }]
      }]
    }
  });
}
