// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The data format, from YAML to the compiled form. The build script uses the same modules.

pub(crate) mod encode;
mod keywords;
pub(crate) mod record;
pub(crate) mod role;
pub(crate) mod source;
pub(crate) mod spelling;
