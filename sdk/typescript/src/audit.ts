// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { Channel } from "./connection/channel.js";
import { TenterhookError } from "./errors.js";
import { AuditLevel as Wire } from "./generated/tenterhook/v1/hooks.js";

/**
 * How much is recorded about hooks, beside every decision, which names each hook that ran. `off`: hooks that come and go.
 * `info`: also each block, modification and failure. `verbose`: also each start and each answer.
 */
export type AuditLevel = "off" | "info" | "verbose";

/** What a person shows to have less recorded. */
export interface AuditProof {
  /** A code of their authenticator app. */
  code?: string;
  /** They typed the name of the action on a terminal. */
  tty?: boolean;
}

const LEVELS: Record<AuditLevel, Wire> = {
  off: Wire.AUDIT_LEVEL_OFF,
  info: Wire.AUDIT_LEVEL_INFO,
  verbose: Wire.AUDIT_LEVEL_VERBOSE,
};

/** Sets the level; resolves to the one before. */
export async function setAuditLevel(channel: Channel, level: AuditLevel, proof?: AuditProof): Promise<AuditLevel> {
  if (!Object.hasOwn(LEVELS, level)) {
    throw new TenterhookError("invalid", `\`${level}\` is no audit level`, "it is `off`, `info` or `verbose`");
  }
  const request = { level: LEVELS[level], proof: proof && { tty: proof.tty ?? false, code: proof.code } };
  const { previous } = await channel.call(channel.hooks, channel.hooks.setAuditLevel, request);
  const before = Object.entries(LEVELS).find(([, wire]) => wire === previous);
  return (before?.[0] ?? "info") as AuditLevel;
}
