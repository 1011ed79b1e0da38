// SPDX-License-Identifier: Apache-2.0 OR MIT

import { query } from '@anthropic-ai/claude-agent-sdk';
import { type TenterhookClient, tenterhookHooks } from 'tenterhook';

/** One line guards an agent with Tenterhook; your own callbacks are passed with it. */
export function start(client: TenterhookClient, options: Parameters<typeof query>[0]['options']) {
  const stream = query({
    prompt: "Task",
    options: {
      ...options,
      hooks: tenterhookHooks(client, { hooks: {
        PreToolUse: [{
          matcher: 'Write',  // Optional: filter by tool name
          hooks: [async (input, toolUseId, { signal }) => {
            console.log('Writing to:', input.tool_input?.file_path);
            return { continue: true };
          }],
          timeout: 60000  // Default 60 seconds
        }],
        PostToolUse: [{
          hooks: [async (input, toolUseId, { signal }) => {
            console.log('Tool completed:', input.tool_name);
            return { continue: true };
          }]
        }]
      } })
    }
  });
  return stream;
}
