// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a command can go wrong with.

pub(crate) use tenterhook_home::Failure as CommandError;
