// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The reference agent: a small real agent loop that fires every event there is.

mod cancel;
mod fire;
pub mod provider;

pub use cancel::Cancel;
pub use fire::{Fire, FireError};
