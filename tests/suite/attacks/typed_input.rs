// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A program that reads its commands from a terminal is asked about where typed text reaches no hook.
