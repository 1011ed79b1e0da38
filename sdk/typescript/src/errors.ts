// SPDX-License-Identifier: Apache-2.0 OR MIT

import { type ServiceError, status } from "@grpc/grpc-js";
import { ErrorCode, type HookError } from "./generated/tenterhook/v1/hooks.js";

/** Kind of an error. */
export type TenterhookErrorCode =
  /** Invalid event type, matcher, setting or response. */
  | "invalid"
  /** The hook or session does not exist, or belongs to another client. */
  | "not-found"
  /** Another client or the configuration has a hook with this id. */
  | "already-exists"
  /** The number of hooks or sessions exceeds its limit. */
  | "limit"
  /** The caller is a guarded agent or another account, or proof that a user is present is missing. */
  | "refused"
  /** A hook, a rule or the user denied the action or ended the turn. */
  | "blocked"
  /** The model did not respond. */
  | "model"
  /** The daemon does not answer. */
  | "unavailable"
  /** Over TCP: the token is missing or wrong. */
  | "unauthenticated"
  /** Another stream with the same client id replaced this one. */
  | "replaced"
  /** The daemon does not support this call. */
  | "unimplemented"
  /** The time limit is over. */
  | "timed-out"
  /** The caller is gone or cancelled the call. */
  | "cancelled"
  /** Too many requests are in progress. */
  | "overloaded"
  /** The client was closed. */
  | "closed"
  /** Any other error. */
  | "internal";

/** An error of this package. */
export class TenterhookError extends Error {
  override readonly name = "TenterhookError";

  constructor(
    readonly code: TenterhookErrorCode,
    /** Error message without the hint. */
    readonly summary: string,
    /** What to do about the error. */
    readonly hint?: string,
    options?: ErrorOptions,
  ) {
    super(hint ? `${summary} (${hint})` : summary, options);
  }

  /** Returns the error with a subject before its message. */
  about(subject: string): TenterhookError {
    return new TenterhookError(this.code, `${subject}: ${this.summary}`, this.hint, { cause: this });
  }
}

const CODES: Partial<Record<ErrorCode, TenterhookErrorCode>> = {
  [ErrorCode.ERROR_INVALID]: "invalid",
  [ErrorCode.ERROR_NOT_FOUND]: "not-found",
  [ErrorCode.ERROR_ALREADY_EXISTS]: "already-exists",
  [ErrorCode.ERROR_LIMIT]: "limit",
  [ErrorCode.ERROR_REFUSED]: "refused",
  [ErrorCode.ERROR_UNKNOWN_CALL]: "not-found",
  [ErrorCode.ERROR_TIMED_OUT]: "timed-out",
  [ErrorCode.ERROR_CANCELLED]: "cancelled",
  [ErrorCode.ERROR_UNREGISTERED]: "cancelled",
  [ErrorCode.ERROR_OVERLOADED]: "overloaded",
  [ErrorCode.ERROR_BLOCKED]: "blocked",
  [ErrorCode.ERROR_MODEL]: "model",
};

const STATUSES: Partial<Record<status, TenterhookErrorCode>> = {
  [status.UNAVAILABLE]: "unavailable",
  [status.UNAUTHENTICATED]: "unauthenticated",
  [status.PERMISSION_DENIED]: "refused",
  [status.INVALID_ARGUMENT]: "invalid",
  [status.ABORTED]: "replaced",
  [status.UNIMPLEMENTED]: "unimplemented",
  [status.DEADLINE_EXCEEDED]: "timed-out",
  [status.CANCELLED]: "cancelled",
  [status.RESOURCE_EXHAUSTED]: "overloaded",
};

const HINTS: Partial<Record<TenterhookErrorCode, string>> = {
  unavailable: "start the daemon with `tenterhook start`; `tenterhook status` shows its state",
  unauthenticated: "the token for TCP is in `run/token` of the state directory; the socket needs none",
  unimplemented: "update the daemon; see `tenterhook --version`",
};

/** Converts an error in a response. */
export function fromData(error: HookError): TenterhookError {
  return new TenterhookError(CODES[error.code] ?? "internal", error.message, error.hint || undefined);
}

/** Converts the gRPC status of a failed call. */
export function fromStatus(error: ServiceError): TenterhookError {
  const code = STATUSES[error.code] ?? "internal";
  return new TenterhookError(code, error.details || error.message, HINTS[code], { cause: error });
}

/** Converts a thrown value into an `Error`. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Converts a thrown value into a `TenterhookError`. */
export function asTenterhookError(thrown: unknown): TenterhookError {
  if (thrown instanceof TenterhookError) return thrown;
  return new TenterhookError("internal", asError(thrown).message, undefined, { cause: thrown });
}

/** The error of calls that are made after `close()`. */
export function closed(): TenterhookError {
  return new TenterhookError("closed", "the client is closed", "create a new client");
}
