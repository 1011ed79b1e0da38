// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks for one run of OpenCode: a plugin that the settings in a variable name. Measured on 1.18.33: OpenCode loads the
//! plugins of the variable and of its settings files.

use super::install::{PLUGIN, is_our_plugin};
use crate::guarded_run::{RefusedOption, RunAdditions, RunRequest, RunSettings, insert};
use crate::{InstallError, list_item::JsoncListEntry, plugin::plugin_file, utf8};

/// Variable with settings as JSON.
const SETTINGS_TEXT: &str = "OPENCODE_CONFIG_CONTENT";

pub(super) const RUN: RunSettings = RunSettings {
    refused_options: &[RefusedOption::new("--pure", "OpenCode then loads no plugins")],
    refused_variables: &["OPENCODE_PURE"],
    additions,
};

fn additions(request: &RunRequest<'_>) -> Result<RunAdditions, InstallError> {
    let owned = plugin_file(request.user, PLUGIN, super::events::EVENTS)?;
    // Two path components, by which an installation recognises Tenterhook's plugin.
    let path = request.directory.join("opencode").join("tenterhook.js");
    let item =
        JsoncListEntry { key: "plugin", value: format!("file://{}", utf8(&path)?), is_ours: is_our_plugin };
    let before = request.variables.get(SETTINGS_TEXT).map_or("", String::as_str);
    let settings = insert(std::path::Path::new(SETTINGS_TEXT), before, &item)?;
    Ok(RunAdditions {
        variables: vec![(SETTINGS_TEXT, settings.into())],
        files: vec![(path, owned.bytes)],
        warnings: owned.warnings,
        ..RunAdditions::default()
    })
}
