// SPDX-License-Identifier: Apache-2.0 OR MIT

/**
 * The hook API of LLxprt Code, as in its reference: types, output classes and exit codes.
 *
 * @packageDocumentation
 */

export * from "./config.js";
export * from "./exit-codes.js";
export type * from "./input.js";
export type * from "./model.js";
export type * from "./output.js";
export { BeforeToolHookOutput } from "./outputs/before-tool.js";
export { DefaultHookOutput } from "./outputs/default.js";
export { AfterModelHookOutput, BeforeModelHookOutput } from "./outputs/model.js";
export { BeforeToolSelectionHookOutput } from "./outputs/tool-selection.js";
export type { ApplyOptions } from "./translate.js";
