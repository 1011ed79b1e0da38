// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The messages of `proto/tenterhook/v1` as Rust types. A test generates the files in `generated`, which are checked
//! in, so building this crate needs no `.proto` compiler.

#![forbid(unsafe_code)]

/// Maximum size of a message in bytes: a payload of 32 MiB, and 1 MiB for the other fields. The SDKs use the same value.
pub const MAX_MESSAGE_BYTES: usize = 33 * 1024 * 1024;

/// Messages of protocol version 1.
pub mod v1 {
    include!("generated/tenterhook.v1.rs");
}

/// The files of version 1 as a descriptor set, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/tenterhook.v1.binpb");
