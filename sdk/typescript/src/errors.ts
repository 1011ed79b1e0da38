// SPDX-License-Identifier: Apache-2.0 OR MIT

import { type ServiceError, status } from "@grpc/grpc-js";
import { ErrorCode, type HookError } from "./generated/tenterhook/v1/hooks.js";

/** What went wrong, in one word. */
export type TenterhookErrorCode =
  /** What was sent cannot be read: an event type, a matcher, a setting, an answer. */
  | "invalid"
  /** There is no such hook or session, or it is another client's. */
  | "not-found"
  /** Somebody else has a hook of this id. */
  | "already-exists"
  /** There are as many hooks or sessions as there may be. */
  | "limit"
  /** A guarded agent asks, or another account; or a person's proof is missing. */
  | "refused"
  /** A hook, a rule or a person said no, or ended the turn. */
  | "blocked"
  /** The model did not answer. */
  | "model"
  /** The daemon does not answer. */
  | "unavailable"
  /** Over TCP: no token, or a wrong one. */
  | "unauthenticated"
  /** Another stream with this client's id took over. */
  | "replaced"
  /** The daemon is too old for this, or does not have this part. */
  | "unimplemented"
  /** It took too long. */
  | "timed-out"
  /** Whoever asked has gone. */
  | "cancelled"
  /** More is under way than there is room for. */
  | "overloaded"
  /** The client was closed. */
  | "closed"
  /** None of these. */
  | "internal";

/** What goes wrong in this package. */
export class TenterhookError extends Error {
  override readonly name = "TenterhookError";

  constructor(
    readonly code: TenterhookErrorCode,
    /** What went wrong, without the hint. */
    readonly summary: string,
    /** What to do next, if anything. */
    readonly hint?: string,
    options?: ErrorOptions,
  ) {
    super(hint ? `${summary} (${hint})` : summary, options);
  }

  /** The same error, said of something. */
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
  unavailable: "is the daemon there? `tenterhook status`; `tenterhook start` starts it",
  unauthenticated: "over TCP the token is in `run/token` of the home; the socket needs none",
  unimplemented: "this daemon does not have it; see `tenterhook --version`",
};

/** An error that a response carries as data. */
export function fromData(error: HookError): TenterhookError {
  return new TenterhookError(CODES[error.code] ?? "internal", error.message, error.hint || undefined);
}

/** A call that could not be made. */
export function fromStatus(error: ServiceError): TenterhookError {
  const code = STATUSES[error.code] ?? "internal";
  return new TenterhookError(code, error.details || error.message, HINTS[code], { cause: error });
}

/** Whatever was thrown, as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Whatever was thrown, as an error of ours. */
export function asTenterhookError(thrown: unknown): TenterhookError {
  if (thrown instanceof TenterhookError) return thrown;
  return new TenterhookError("internal", asError(thrown).message, undefined, { cause: thrown });
}

/** The client was closed. */
export function closed(): TenterhookError {
  return new TenterhookError("closed", "the client was closed", "make a new one");
}
