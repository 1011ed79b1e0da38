// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into VS Code Copilot, which cannot be run against a scripted model.

mod install;

use tenterhook_harness::vscode::HARNESS;

use crate::{ClientRow, ClientSigns};

/// VS Code Copilot's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns {
        programs: &[],
        traces: &[
            ".config/Code/User/globalStorage/github.copilot-chat",
            "Library/Application Support/Code/User/globalStorage/github.copilot-chat",
        ],
    },
    installer: Some(install::INSTALLER),
    launch: Err("it runs in an editor with a window"),
    guarded_run: Err("it is an editor, which is not started for one run"),
};
