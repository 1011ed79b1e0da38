// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls, and what the facts say about them.

mod descriptions;
mod effects;
