// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Maps command errors to exit codes. No other module does this.

use tenterhook_error::ErrorKind;
pub use tenterhook_error::Failure as CommandError;

/// Returns the exit code for an error of this kind: 2 if the input has to change, else 1.
pub fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::User => 2,
        ErrorKind::NotFound
        | ErrorKind::Conflict
        | ErrorKind::Busy
        | ErrorKind::Denied
        | ErrorKind::Internal => 1,
    }
}
