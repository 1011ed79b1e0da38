// SPDX-License-Identifier: Apache-2.0 OR MIT

export { type TenterhookHooksOptions, tenterhookHooks } from "./bridge.js";
export { GUARDED_EVENTS } from "./events.js";
export type * from "./hooks.js";
export type * from "./input.js";
export type * from "./output.js";
