// SPDX-License-Identifier: Apache-2.0 OR MIT

/**
 * Hooks for every AI agent: observe, change or block what agents do.
 *
 * @packageDocumentation
 */

export type { GenerateStep, PermissionMode, SessionModel, SessionOptions, WorkOptions } from "./agent.js";
export type { AuditLevel, AuditProof } from "./audit.js";
export * from "./claude/index.js";
export { type ClientOptions, type TemporaryHook, TenterhookClient } from "./client.js";
export type { EndpointOptions } from "./connection/endpoint.js";
export type { ClientState } from "./connection/link.js";
export { TenterhookError, type TenterhookErrorCode } from "./errors.js";
export * from "./events/index.js";
export type {
  FiredEvent,
  FireOptions,
  FireResult,
  NativeCallback,
  NativeEvent,
  NativeReply,
  NativeResult,
} from "./fire.js";
export type { ListedHook } from "./hooks/list.js";
export type * from "./hooks/types.js";
export { EXIT_CODE_BLOCKING_ERROR, EXIT_CODE_NON_BLOCKING_ERROR, EXIT_CODE_SUCCESS } from "./llxprt/exit-codes.js";
export type { FileChanged, TodoItem, TodoUpdate } from "./observe.js";
export type { News, WatchOptions } from "./watch.js";
