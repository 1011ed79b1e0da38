// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks for one run of OpenCode: a plugin that the settings in a variable name. Measured on 1.18.33: OpenCode loads the
//! plugins of the variable and of its settings files.

use super::install::{PLUGIN, is_our_plugin};
use crate::run_settings::{RefusedArgument, RunAdditions, RunRequest, RunSettings, insert_hooks};
use crate::{InstallError, list_item::JsoncListEntry, plugin::plugin_file, utf8};

/// Variable with settings as JSON.
const SETTINGS_TEXT: &str = "OPENCODE_CONFIG_CONTENT";

pub(super) const OPENCODE_RUN_SETTINGS: RunSettings = RunSettings {
    refused_arguments: &[
        RefusedArgument::new("--pure", "OpenCode then loads no plugins"),
        RefusedArgument::new(
            "--attach",
            "another process then runs the session, without the plugin of this run",
        ),
        RefusedArgument::new(
            "attach",
            "another process then runs the session, without the plugin of this run",
        ),
    ],
    refused_variables: &["OPENCODE_PURE", "OPENCODE_DISABLE_PROJECT_CONFIG"],
    redirecting_options: &[],
    own_sandbox: None,
    build_additions,
};

fn build_additions(request: &RunRequest<'_>) -> Result<RunAdditions, InstallError> {
    let owned = plugin_file(request.user, PLUGIN, super::events::EVENTS)?;
    // Two path components, by which an installation recognises Tenterhook's plugin.
    let path = request.directory.join("opencode").join("tenterhook.js");
    let item =
        JsoncListEntry { key: "plugin", value: format!("file://{}", utf8(&path)?), is_ours: is_our_plugin };
    let before = request.variables.get(SETTINGS_TEXT).map_or("", String::as_str);
    let settings = insert_hooks(std::path::Path::new(SETTINGS_TEXT), before, &item)?;
    Ok(RunAdditions {
        variables: vec![(SETTINGS_TEXT, settings.into())],
        files: vec![(path, owned.bytes)],
        warnings: owned.warnings,
        ..RunAdditions::default()
    })
}
