// SPDX-License-Identifier: Apache-2.0 OR MIT

/** The hook has completed. */
export const EXIT_CODE_SUCCESS = 0;

/** A warning: it goes on. */
export const EXIT_CODE_NON_BLOCKING_ERROR = 1;

/** The hook blocks. */
export const EXIT_CODE_BLOCKING_ERROR = 2;
