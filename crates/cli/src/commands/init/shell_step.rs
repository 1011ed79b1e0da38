// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::{Path, PathBuf};

use serde_json::json;
use tenterhook_command::env::Env;

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
        let Some(shell) = UserShell::of(env) else {
            let text = "the shell is unknown; `tenterhook self completions SHELL` prints completions";
            plan.found.push(format!("{DIM}{text}{DIM:#}"));
            plan.is_settled = true;
            return Ok(plan);
        };
        for (id, label, addition) in additions(shell, env)? {
            let is_real = match id {
                PATH_ITEM => is_on_path(env),
                _ => shell.packaged_completions().iter().any(|file| Path::new(file).exists()),
            } || addition.is_present();
            if is_real {
                plan.found.push(format!("{GOOD}✓{GOOD:#} {label}"));
            } else if !addition.is_own_file {
                plan.found.push(format!("{DIM}{}{DIM:#}", tame(addition.text.trim_end())));
            }
            let note = format!("  {}", site.show(&addition.file));
            plan.choices.push(StepChoice {
                note,
                is_real,
                is_default: !is_real,
                ..StepChoice::new(id, label)
            });
        }
        plan.is_settled = plan.choices.iter().all(|choice| choice.is_real);
        Ok(plan)
    }

    fn apply(&self, site: &InitSite<'_>, chosen: &[UserChoice]) -> Result<StepReport, CommandError> {
        let env = &site.context.env;
        let mut report = StepReport::default();
        let mut files: Vec<PathBuf> = Vec::new();
        let Some(shell) = UserShell::of(env) else { return Ok(report) };
        for (id, _, addition) in additions(shell, env)? {
            if !chosen.iter().any(|item| item.id == id) {
                continue;
            }
            match addition.write() {
                Ok(()) => {
                    report.lines.push(format!("{GOOD}✓{GOOD:#} wrote {}", site.show(&addition.file)));
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

/// What the shell can need: id, label and text.
fn additions(
    shell: UserShell,
    env: &Env,
) -> Result<Vec<(&'static str, &'static str, ProfileAddition)>, CommandError> {
    let program = std::env::current_exe()?;
    let path = program.parent().and_then(|directory| shell.path_addition(env, directory));
    let completions = shell.completion_addition(env, &registration_script(shell.name())?);
    let path = path.map(|addition| (PATH_ITEM, "`tenterhook` on the PATH", addition));
    let completions = completions.map(|addition| (COMPLETIONS, "completions", addition));
    Ok(path.into_iter().chain(completions).collect())
}

/// Whether `tenterhook` on the `PATH` is a program, in any version.
fn is_on_path(env: &Env) -> bool {
    let path = env.all.get("PATH").map_or("", String::as_str);
    std::env::split_paths(path).any(|directory| directory.join("tenterhook").is_file())
}
