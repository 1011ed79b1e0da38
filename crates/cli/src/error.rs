// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Errors of commands. This is the one place that maps errors to exit codes.

use tenterhook_error::ErrorKind;
pub(crate) use tenterhook_error::Failure as CommandError;

/// The exit code of a command that ends with an error of this kind: 2 if the input has to change, else 1.
pub(crate) fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::User => 2,
        ErrorKind::NotFound
        | ErrorKind::Conflict
        | ErrorKind::Busy
        | ErrorKind::Denied
        | ErrorKind::Internal => 1,
    }
}
