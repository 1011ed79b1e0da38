// SPDX-License-Identifier: Apache-2.0 OR MIT

//! VS Code Copilot on a machine: its settings. It cannot be run against a scripted model.

mod install;

use tenterhook_harness::vscode::HARNESS;

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs {
        programs: &[],
        traces: &[
            ".config/Code/User/globalStorage/github.copilot-chat",
            "Library/Application Support/Code/User/globalStorage/github.copilot-chat",
        ],
    },
    installer: Some(install::INSTALLER),
    launch: Err("it runs inside an editor with a window"),
};
