// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the environment variables, once per process.

use std::path::PathBuf;

use tenterhook_harness::HARNESSES;
use tenterhook_harness_install::HarnessClient as _;
pub use tenterhook_home::Env;
use tenterhook_transcript::transcripts_of;

/// Reads all variables.
#[expect(clippy::disallowed_methods, reason = "all other modules use the result of this function")]
pub fn read_env() -> Env {
    let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let harness_variables = HARNESSES
        .iter()
        .flat_map(|harness| {
            let settings = harness.installer().map(|installer| installer.variables);
            let transcripts = transcripts_of(harness).map(|transcripts| transcripts.variables);
            settings.into_iter().chain(transcripts).flatten().copied().chain(harness.project_variable)
        })
        .filter_map(|name| Some((name, path(name)?)))
        .collect();
    Env {
        home: path("HOME"),
        tenterhook_home: path("TENTERHOOK_HOME"),
        tenterhook_system_dir: path("TENTERHOOK_SYSTEM_DIR"),
        tenterhook_listen: path("TENTERHOOK_LISTEN")
            .and_then(|value| value.into_os_string().into_string().ok()),
        xdg_state_home: path("XDG_STATE_HOME"),
        xdg_config_home: path("XDG_CONFIG_HOME"),
        all: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        harness_variables,
    }
}
