// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Facts of whole calls.

mod descriptions;
mod effects;
