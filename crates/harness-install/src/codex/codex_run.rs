// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks for one run of Codex: values for `-c`. Measured on 0.166.0: they run in addition to the hooks of settings
//! files, and like those only if they are trusted. Codex looks the trust up under the path of a file that does not
//! exist. Trusting all hooks of the run with `--dangerously-bypass-hook-trust` would also trust those of a project.

use std::path::Path;

use super::install::{hooks, trusts};
use crate::run_settings::{
    OwnSandbox, RefusedArgument, RefusedValues, RunAdditions, RunRequest, RunSettings,
};
use crate::{InstallError, SettingsEditor as _, jsonc::JsonNode, toml};

/// Path under which Codex looks up the trust of hooks from its command line.
const COMMAND_LINE_LAYER: &str = "/<session-flags>/config.toml";

pub(super) const CODEX_RUN_SETTINGS: RunSettings = RunSettings {
    refused_arguments: &[
        RefusedArgument {
            values: RefusedValues::If(sets_hooks),
            ..RefusedArgument::new("-c", REPLACES_HOOKS_REASON)
        },
        RefusedArgument {
            values: RefusedValues::If(sets_hooks),
            ..RefusedArgument::new("--config", REPLACES_HOOKS_REASON)
        },
        RefusedArgument {
            values: RefusedValues::If(|features| features.contains("hooks")),
            ..RefusedArgument::new("--disable", "Codex then runs no hooks")
        },
        RefusedArgument::new("--remote", ELSEWHERE_REASON),
        RefusedArgument::new("cloud", ELSEWHERE_REASON),
        RefusedArgument::without_settings("agents", ELSEWHERE_REASON),
        RefusedArgument::without_settings("queue", ELSEWHERE_REASON),
        RefusedArgument::without_settings("remote-control", ELSEWHERE_REASON),
    ],
    refused_variables: &[],
    redirecting_options: &["-p", "--profile", "--ignore-user-config"],
    own_sandbox: Some(OwnSandbox {
        off_arguments: &["-c", "sandbox_mode=\"danger-full-access\""],
        off_settings: None,
        on_marker: None,
    }),
    build_additions,
};

const REPLACES_HOOKS_REASON: &str = "the value may turn hooks off or replace Tenterhook's hooks";
const ELSEWHERE_REASON: &str = "another process then runs the session, without the hooks of this run";

/// Whether a value of `-c` may set hooks. Codex removes spaces around the key and splits it at dots.
fn sets_hooks(setting: &str) -> bool {
    let key = setting.split_once('=').map_or(setting, |(key, _)| key);
    let mut parts = key
        .split('.')
        .map(|part| part.trim_matches(|letter: char| letter.is_whitespace() || "\"'".contains(letter)));
    match (parts.next(), parts.next()) {
        (Some("features"), None | Some("")) => true,
        (Some("features"), Some(feature)) => feature.contains("hooks"),
        (Some(key), _) => key.contains("hooks"),
        (None, _) => false,
    }
}

fn build_additions(request: &RunRequest<'_>) -> Result<RunAdditions, InstallError> {
    let hooks = hooks(&request.own_request())?;
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
