// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs and scripts that hooks run. This module checks whether they can run, and creates a rule that prevents
//! agents from changing them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tenterhook_document::{Problem, Spot};
use tenterhook_engine::{FailMode, Hook, HookBackend, load, needed_files};
use tenterhook_policy::SourceLayer;

use crate::env::Env;
use crate::sources::SourceFile;
use crate::trust::Standing;
use crate::{Home, read_file};

/// Name of the generated rule file and id of its rule.
const RULE_NAME: &str = "hook-files";
/// Directories of system programs, which agents cannot write to.
const SYSTEM_DIRS: &[&str] =
    &["/bin/", "/lib/", "/nix/store/", "/sbin/", "/usr/bin/", "/usr/lib/", "/usr/sbin/"];

/// Finds enabled hooks in the settings that cannot run, and reports the reason for each.
pub fn find_problems(hooks: &[Hook], places: &[(String, Spot)], env: &Env) -> Vec<Problem> {
    let search = env.all.get("PATH").map(String::as_str);
    let problem = |(hook, place): (&Hook, &(String, Spot))| {
        let HookBackend::Command(command) = &hook.runner else { return None };
        let why = needed_files::why_not_runnable(command, None, search).filter(|_| hook.enabled)?;
        let means = match hook.fail {
            FailMode::Closed if !hook.observes => "until this is fixed, every call it applies to is denied",
            _ => "until this is fixed, the hook has no effect",
        };
        Some(Problem::new(&place.0, place.1, why).about("hook", Some(&hook.id)).hint(means))
    };
    hooks.iter().zip(places).filter_map(problem).collect()
}

/// The files that the hooks in the settings run. The files may be in any directory, and are watched for changes.
pub fn watched_files(home: &Home, env: &Env) -> Vec<PathBuf> {
    needed_paths(&hooks_of_settings(home, env))
}

/// Creates a rule that denies changes to the files of hooks. Files in Tenterhook's own directories and system programs
/// are left out, because other rules or the system's permissions protect them. `None` if no files remain.
pub(crate) fn protection_rule(home: &Home, env: &Env) -> Option<SourceFile> {
    let own = |path: &PathBuf| path.starts_with(&home.config) || path.starts_with(&home.state);
    let system = |path: &PathBuf| SYSTEM_DIRS.iter().any(|dir| path.starts_with(dir));
    let mut guarded: Vec<_> = needed_paths(&hooks_of_settings(home, env));
    guarded.retain(|path| !own(path) && !system(path));
    guarded.sort();
    guarded.dedup();
    let globs: Vec<_> = guarded.iter().filter_map(|path| as_glob(path)).collect();
    if globs.is_empty() {
        return None;
    }
    let mut yaml = format!("version: 1\npack: {RULE_NAME}\nrules:\n  - id: {RULE_NAME}\n");
    let _ = write!(
        yaml,
        "    description: Changes a program or script of a hook\n    severity: critical\n    locked: true\n    \
         match: {{effect: {{does: [write, append, delete, move, permit], path: {}}}}}\n    verdict: deny\n    \
         reason: This file belongs to a hook that protects this session; only the user may change it.\n    \
         nudge: tell the user what you want to change in the hook\n",
        serde_json::Value::from(globs)
    );
    let (layer, standing) = (SourceLayer::Baseline, Standing::Trusted);
    Some(SourceFile {
        name: RULE_NAME.to_owned(),
        yaml: Cow::Owned(yaml),
        layer,
        standing,
        pack: Some(RULE_NAME.to_owned()),
    })
}

fn hooks_of_settings(home: &Home, env: &Env) -> Vec<Hook> {
    let Ok(Some(text)) = read_file::regular_file(&home.settings()) else { return Vec::new() };
    let user_home = env.home.as_deref().and_then(Path::to_str);
    let context = load::LoadContext { dir: &home.config, home: user_home, env: &env.all };
    load::load_settings("", &text, &context).hooks
}

fn needed_paths(hooks: &[Hook]) -> Vec<PathBuf> {
    let files = |hook: &Hook| match &hook.runner {
        HookBackend::Command(command) => needed_files::needed_paths(command),
        _ => Vec::new(),
    };
    hooks.iter().flat_map(files).collect()
}

/// Converts a path to a glob. Each character with a special meaning in globs is replaced with `?`. So the rule may
/// protect slightly more than the path, but never less.
fn as_glob(path: &Path) -> Option<String> {
    Some(path.to_str()?.replace(['*', '?', '[', ']', '{', '}', '\\'], "?"))
}
