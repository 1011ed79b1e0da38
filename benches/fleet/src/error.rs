// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Errors of the benches.

/// Error that ends a measurement.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BenchError(pub(crate) String);

impl BenchError {
    pub(crate) fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}
