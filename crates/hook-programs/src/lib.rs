// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The hook programs that harnesses start (`crates/shim`), built for speed and embedded as bytes.

/// Names and contents of the programs.
pub const HOOK_PROGRAMS: &[(&str, &[u8])] = &[
    ("tenterhook-hook", include_bytes!(concat!(env!("OUT_DIR"), "/tenterhook-hook"))),
    ("tenterhook-status", include_bytes!(concat!(env!("OUT_DIR"), "/tenterhook-status"))),
];
