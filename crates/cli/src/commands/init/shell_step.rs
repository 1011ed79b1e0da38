// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use tenterhook_command::env::Env;
use tenterhook_setup::hook_programs::{FULL_PROGRAM, install_programs};

use super::shell_profile::{ProfileAddition, UserShell};
use super::step::{InitSite, InitStep, StepChoice, StepPlan, StepReport, UserChoice};
use crate::completion::registration_script;
use crate::error::CommandError;
use crate::terminal::{DIM, GOOD, tame};

const PATH_ITEM: &str = "path";
const COMPLETIONS: &str = "completions";

/// Puts the program on the `PATH`, and installs completions.
pub(super) struct ShellStep;

impl InitStep for ShellStep {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn title(&self) -> &'static str {
        "PATH and completions"
    }

    fn plan(&self, site: &InitSite<'_>) -> Result<StepPlan, CommandError> {
        let env = &site.context.env;
        let mut plan = StepPlan { question: "What should be added?", ..StepPlan::default() };
        let Some(shell) = UserShell::detect(env) else {
            let text = "the shell is unknown; `tenterhook self completions SHELL` prints completions";
            plan.found.push(format!("{DIM}{text}{DIM:#}"));
            plan.is_finished = true;
            return Ok(plan);
        };
        for (id, label, addition) in find_additions(shell, site)? {
            let is_done = match id {
                PATH_ITEM => is_on_path(env),
                _ => shell.packaged_completions().iter().any(|file| Path::new(file).exists()),
            } || addition.is_present();
            if is_done {
                plan.found.push(format!("{GOOD}✓{GOOD:#} {label}"));
            } else if !addition.is_own_file {
                plan.found.push(format!("{DIM}{}{DIM:#}", tame(addition.text.trim_end())));
            }
            let note = format!("  {}", site.abbreviate_home(&addition.file));
            plan.choices.push(StepChoice {
                note,
                is_done,
                is_default: !is_done,
                ..StepChoice::new(id, label)
            });
        }
        plan.is_finished = plan.choices.iter().all(|choice| choice.is_done);
        Ok(plan)
    }

    fn apply(&self, site: &InitSite<'_>, chosen: &[UserChoice]) -> Result<StepReport, CommandError> {
        let env = &site.context.env;
        let mut report = StepReport::default();
        let mut files: Vec<PathBuf> = Vec::new();
        let Some(shell) = UserShell::detect(env) else { return Ok(report) };
        for (id, _, addition) in find_additions(shell, site)? {
            if !chosen.iter().any(|item| item.id == id) {
                continue;
            }
            if id == PATH_ITEM
                && let Err(error) = install_programs(&site.host().setup())
            {
                report.failures.push(error);
                continue;
            }
            match addition.write() {
                Ok(()) => {
                    report
                        .lines
                        .push(format!("{GOOD}✓{GOOD:#} wrote {}", site.abbreviate_home(&addition.file)));
                    files.push(addition.file);
                }
                Err(error) => report.failures.push(error),
            }
        }
        if !files.is_empty() {
            report.lines.push(format!("{DIM}new shells use it{DIM:#}"));
        }
        report.detail = json!({"shell": shell.name(), "files": files});
        Ok(report)
    }
}

/// Returns what can be added to the shell's files: id, label and text.
fn find_additions(
    shell: UserShell,
    site: &InitSite<'_>,
) -> Result<Vec<(&'static str, &'static str, ProfileAddition)>, CommandError> {
    let env = &site.context.env;
    // Guarded agents cannot write to this directory, unlike to a build directory from which the program may run now.
    let path = shell.path_addition(env, &site.home.bin());
    let completions = shell.completion_addition(env, &registration_script(shell.name())?);
    let path = path.map(|addition| (PATH_ITEM, "`tenterhook` on the PATH", addition));
    let completions = completions.map(|addition| (COMPLETIONS, "completions", addition));
    Ok(path.into_iter().chain(completions).collect())
}

/// Whether `tenterhook` on the `PATH` is a program, in any version.
fn is_on_path(env: &Env) -> bool {
    let path = env.all.get("PATH").map_or("", String::as_str);
    let is_program =
        |file: &Path| file.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    std::env::split_paths(path).any(|directory| is_program(&directory.join(FULL_PROGRAM)))
}
