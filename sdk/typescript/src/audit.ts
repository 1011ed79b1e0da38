// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { Channel } from "./connection/channel.js";
import { TenterhookError } from "./errors.js";
import { AuditLevel as Wire } from "./generated/tenterhook/v1/hooks.js";

/**
 * How much is recorded about hooks. Decisions are always recorded, with the hooks that ran. `off` records in addition
 * which hooks are registered or removed. `info` also records each block, modification and failure. `verbose` also
 * records each start and each answer.
 */
export type AuditLevel = "off" | "info" | "verbose";

/** Proof that a user is present. It is required to set a level that records less. */
export interface AuditProof {
  /** Code from the user's authenticator app. */
  code?: string;
  /** Whether the user typed the name of the action at a terminal. */
  tty?: boolean;
}

const LEVELS: Record<AuditLevel, Wire> = {
  off: Wire.AUDIT_LEVEL_OFF,
  info: Wire.AUDIT_LEVEL_INFO,
  verbose: Wire.AUDIT_LEVEL_VERBOSE,
};

/** Sets the audit level and resolves to the previous level. */
export async function setAuditLevel(channel: Channel, level: AuditLevel, proof?: AuditProof): Promise<AuditLevel> {
  if (!Object.hasOwn(LEVELS, level)) {
    throw new TenterhookError("invalid", `unknown audit level \`${level}\``, "use `off`, `info` or `verbose`");
  }
  const request = { level: LEVELS[level], proof: proof && { tty: proof.tty ?? false, code: proof.code } };
  const { previous } = await channel.call(channel.hooks, channel.hooks.setAuditLevel, request);
  const before = Object.entries(LEVELS).find(([, wire]) => wire === previous);
  return (before?.[0] ?? "info") as AuditLevel;
}
