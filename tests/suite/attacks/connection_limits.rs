// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One account or program cannot use up what others need: connections, bytes, waiting calls, hooks.
