// SPDX-License-Identifier: Apache-2.0 OR MIT

/** The hook completed. */
export const EXIT_CODE_SUCCESS = 0;

/** The hook reports a warning; the action continues. */
export const EXIT_CODE_NON_BLOCKING_ERROR = 1;

/** The hook blocks the action. */
export const EXIT_CODE_BLOCKING_ERROR = 2;
