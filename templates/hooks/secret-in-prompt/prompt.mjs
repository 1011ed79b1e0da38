// SPDX-License-Identifier: Apache-2.0 OR MIT
// @ts-check
import { readFileSync } from "node:fs";

/** @type {[string, RegExp][]} */
const TOKENS = [
  ["a GitHub token", /\bgh[opsu]_[A-Za-z0-9]{36}\b/],
  ["an AWS key", /\bAKIA[0-9A-Z]{16}\b/],
  ["a private key", /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
];

const event = JSON.parse(readFileSync(0, "utf8"));
const prompt = event.detail?.prompt ?? "";
const found = TOKENS.find(([, pattern]) => pattern.test(prompt));
if (found) {
  console.log(JSON.stringify({ decision: "deny", reason: `the prompt contains ${found[0]}; remove it first` }));
}
