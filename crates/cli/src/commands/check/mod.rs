// SPDX-License-Identifier: Apache-2.0 OR MIT

pub(super) mod excerpt;
pub(super) mod rules_only;
mod trial;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_engine::{Hook, HookLimits, load};
use tenterhook_guard::mcp_servers::{KnownServers, read_servers, unknown_servers};
use tenterhook_guard::{Configuration, FileRights};
use tenterhook_home::WorkDirs;
use tenterhook_policy::{Problem, RuleSet, RuleSource, SourceLayer};
use tenterhook_profile::ProblemLevel;

use self::excerpt::problem_excerpt;
use crate::context::Context;
use crate::error::CommandError;
use crate::profile_settings::{SettingsFile, open_profile};
use crate::terminal::{BAD, GOOD, WARN, count, tame};

const EXAMPLES: &str = "\
Without a file, checks the built-in rules, your `policy.yaml` and the hooks in your `tenterhook.yaml`, with \
every example of every rule. Programs and scripts of hooks must exist and be executable. Exit code 1 if \
anything is invalid.

Examples:
  tenterhook check
  tenterhook check --run               also run each hook once with a sample
  tenterhook check my-rules.yaml --json
  tenterhook check --profile claude ~/.claude/settings.json";

/// Check rules and hooks, and report what is invalid
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rule files to check instead of the active ones; with --profile, settings files of that harness
    files: Vec<PathBuf>,
    /// Check the hook settings of a harness: claude, gemini, llxprt, llxprt-2026-08, a3s
    #[arg(long, value_name = "PROFILE", requires = "files")]
    profile: Option<String>,
    /// Run each hook of the settings once with a sample event; nothing is recorded
    #[arg(long, conflicts_with_all = ["files", "profile"])]
    run: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    if let Some(profile) = &args.profile {
        return check_profile_settings(context, profile, &args.files);
    }
    let configuration = if args.files.is_empty() {
        Configuration::read(context.home()?, &context.env, &WorkDirs::at(std::env::current_dir().ok()))
    } else {
        check_files(&args.files)?
    };
    let Configuration { rules, hooks, problems, warnings, .. } = &configuration;
    let now = tenterhook_home::call_meta::now();
    let servers = read_servers(&context.env, std::env::current_dir().ok().as_deref());
    let unknown = unknown_servers(rules, &servers);
    let warnings: Vec<_> = warnings.iter().cloned().chain(rules.warnings(now)).chain(unknown).collect();
    let trials = if args.run { trial::run_all(hooks)? } else { Vec::new() };
    let failed = trials.iter().any(|trial| trial.failure.is_some());
    let exit = if problems.is_empty() && !failed { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.terminal.json {
        let rules: Vec<_> = rules
            .rules()
            .map(|rule| json!({"id": rule.id(), "verdict": rule.verdict(), "layer": rule.layer()}))
            .collect();
        let hooks: Vec<_> = hooks.iter().map(|hook| hook.id.as_ref()).collect();
        let mut answer = json!({"rules": rules, "hooks": hooks, "problems": problems, "warnings": warnings, "runs": trials});
        if let (Some(answer), Some(policy)) = (answer.as_object_mut(), &configuration.sources.fleet) {
            answer.insert("fleet".to_owned(), policy.to_json(context.home()?));
        }
        context.terminal.print_json(&answer)?;
        return Ok(exit);
    }
    let texts = configuration.sources.texts.iter().chain(&configuration.sources.programs);
    let texts = texts.map(|text| (text.name.as_str(), text.yaml.as_ref())).collect();
    let mut text =
        problems_text(&problems.iter().collect::<Vec<_>>(), &warnings.iter().collect::<Vec<_>>(), &texts);
    text += &trials.iter().map(trial::HookTrial::line).collect::<String>();
    let broken =
        |hook: &&Hook| problems.iter().any(|problem| problem.about == Some(format!("hook `{}`", hook.id)));
    let runnable = hooks.iter().filter(|hook| hook.enabled && !broken(hook)).count();
    let (rules, hooks) = (rules.rules().count(), runnable);
    let usable = if args.files.is_empty() {
        format!("{} and {} active", count(rules, "rule"), count(hooks, "hook"))
    } else {
        format!("{} valid", count(rules, "rule"))
    };
    if let Some(policy) = &configuration.sources.fleet {
        let _ = writeln!(text, "policy of the {}", tame(&policy.summary(context.home()?, now)));
    }
    let _ = match problems.len() {
        0 => writeln!(text, "{GOOD}✓{GOOD:#} {usable}"),
        many => writeln!(text, "{BAD}✗{BAD:#} {}; {usable}", count(many, "problem")),
    };
    context.terminal.print(&text)?;
    Ok(exit)
}

/// Checks a harness's own hook settings.
fn check_profile_settings(
    context: &Context,
    profile: &str,
    files: &[PathBuf],
) -> Result<ExitCode, CommandError> {
    let files: Vec<_> = files.iter().cloned().map(SettingsFile::of_project).collect();
    let stage = open_profile(profile, &files, &context.env)?;
    let of = |level| stage.problems(level).map(|finding| &finding.problem).collect::<Vec<_>>();
    let (problems, warnings) = (of(ProblemLevel::Error), of(ProblemLevel::Warning));
    let hooks = stage.settings.entries.iter().filter(|entry| entry.enabled).count();
    let exit = if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.terminal.json {
        let enabled = stage.settings.enabled;
        context.terminal.print_json(
            &json!({"profile": profile, "enabled": enabled, "hooks": hooks, "problems": problems, "warnings": warnings}),
        )?;
        return Ok(exit);
    }
    let mut text = problems_text(&problems, &warnings, &BTreeMap::new());
    match &stage.settings.why_disabled {
        Some(why) => text += &format!("{WARN}no hook runs{WARN:#}: {why}\n"),
        None => text += &format!("{} would be active\n", count(hooks, "hook")),
    }
    context.terminal.print(&text)?;
    Ok(exit)
}

/// Formats problems and warnings, with the lines they are about where the text is known.
fn problems_text(problems: &[&Problem], warnings: &[&Problem], texts: &BTreeMap<&str, &str>) -> String {
    let problems = problems.iter().map(|problem| problem_excerpt(problem, texts, "problem", BAD));
    let warnings = warnings.iter().map(|warning| problem_excerpt(warning, texts, "warning", WARN));
    problems.chain(warnings).collect()
}

fn check_files(files: &[PathBuf]) -> Result<Configuration, CommandError> {
    let read = files.iter().map(|path| {
        let text = fs_err::read_to_string(path).map_err(|error| CommandError::user(error.to_string()))?;
        Ok((path.display().to_string(), text))
    });
    let read = read.collect::<Result<Vec<_>, CommandError>>()?;
    let layer = SourceLayer::User;
    let sources = read.iter().map(|(name, text)| RuleSource { name, text, layer, trusted: true });
    let loaded = RuleSet::load(&sources.collect::<Vec<_>>());
    Ok(Configuration {
        mode: tenterhook_home::Mode::default(),
        generation: loaded.rules.digest(),
        rules: loaded.rules,
        sources: tenterhook_home::Sources::from_files(files, layer)?,
        hooks: Vec::new(),
        limits: HookLimits::default(),
        defaults: load::HookDefaults::default(),
        problems: loaded.problems,
        warnings: Vec::new(),
        sessions: None,
        servers: KnownServers::Unknown,
        file_rights: FileRights::None,
        snapshots: None,
        allowances: None,
        monitor_until: None,
        level: tenterhook_home::ProtectionLevel::default(),
    })
}
