// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks for one run of Codex: values for `-c`. Measured on 0.166.0: they run in addition to the hooks of settings
//! files, and like those only if they are trusted. Codex looks the trust up under the path of a file that does not
//! exist. Trusting all hooks of the run with `--dangerously-bypass-hook-trust` would also trust those of a project.

use std::path::Path;

use super::install::{hooks, trusts};
use crate::guarded_run::{RefusedOption, RunAdditions, RunRequest, RunSettings};
use crate::{InstallError, SettingsEditor as _, jsonc::JsonNode, toml};

/// Path under which Codex looks up the trust of hooks from its command line.
const COMMAND_LINE_LAYER: &str = "/<session-flags>/config.toml";

const HOOK_KEYS: &[&str] = &["hooks", "features.hooks", "features.codex_hooks", "features="];

pub(super) const RUN: RunSettings = RunSettings {
    refused_options: &[
        RefusedOption { name: "-c", values: HOOK_KEYS, reason: REPLACES },
        RefusedOption { name: "--config", values: HOOK_KEYS, reason: REPLACES },
        RefusedOption {
            name: "--disable",
            values: &["hooks", "codex_hooks"],
            reason: "Codex then runs no hooks",
        },
    ],
    refused_variables: &[],
    additions,
};

const REPLACES: &str = "it would replace Tenterhook's hooks";

fn additions(request: &RunRequest<'_>) -> Result<RunAdditions, InstallError> {
    let hooks = hooks(&request.order())?;
    let mut values = vec!["features.hooks=true".to_owned()];
    for entry in &hooks.entries {
        let groups = JsonNode::List(vec![entry.group.clone()]);
        values.push(format!("hooks.{}={}", entry.event, toml::inline_value(&groups)));
    }
    let trust = |trust: &super::install::HookTrust| {
        format!(
            "{} = {{ trusted_hash = {} }}",
            toml::quote_string(&trust.key),
            toml::quote_string(&trust.hash)
        )
    };
    let trusts = trusts(Path::new(COMMAND_LINE_LAYER), &hooks)?;
    // A dotted key could not contain this path, because Codex splits keys at every dot.
    values.push(format!("hooks.state={{ {} }}", trusts.iter().map(trust).collect::<Vec<_>>().join(", ")));
    let warnings = hooks.warnings("").map_err(|error| error.at(Path::new(COMMAND_LINE_LAYER)))?;
    let args = values.into_iter().flat_map(|value| ["-c".into(), value.into()]).collect();
    Ok(RunAdditions { args, warnings, ..RunAdditions::default() })
}
