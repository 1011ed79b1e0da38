// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What harnesses spawn, often twice for every tool call: as little as can be.
//!
//! `tenterhook-hook` reads the payload, asks the daemon over its Unix socket and prints the harness's
//! own reply. On any trouble it becomes the full program, which judges by itself. Nothing here depends
//! on anything but the standard library, so that the programs are small, static and quick to start.

pub mod wire;
