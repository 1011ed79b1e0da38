// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Plans which of the configured hooks run for an event, and in which order.

use std::collections::HashMap;

use crate::settings::{ConfiguredHook, ProfileSettings, SettingsSource};
use crate::switches::{DedupeRule, HookKind, HookOrder, Profile};

/// The plan for one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookPlan {
    /// Every configured hook: first the hooks of the event in the order in which they run, then all others.
    pub steps: Vec<PlannedHook>,
    /// Whether the hooks run sequentially. Each hook then receives the changes of the previous hook.
    pub sequential: bool,
}

/// One configured hook in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedHook {
    /// Index in [`ProfileSettings::entries`].
    pub entry: usize,
    /// Whether the hook runs.
    pub matched: bool,
    /// Reason why the hook runs or does not run.
    pub why: String,
}

/// Plans an event. `mismatch` returns the reason why an entry's matcher does not match the event. It is called in the
/// order in which hooks run, and only for hooks that nothing else keeps from running.
///
/// As in the harnesses, one matching sequential group makes the whole event sequential.
pub fn plan_hooks(
    profile: &Profile,
    settings: &ProfileSettings,
    event: &str,
    mismatch: &mut dyn FnMut(&ConfiguredHook) -> Option<String>,
) -> HookPlan {
    let name = profile.event(event).map_or(event, |row| row.name);
    let (mut of_event, of_other_events): (Vec<_>, Vec<_>) =
        settings.entries.iter().enumerate().partition(|(_, entry)| entry.event == name);
    of_event.sort_by_key(|(_, entry)| sort_rank(profile, entry));

    let mut plan = HookPlan::default();
    let mut seen: HashMap<HookIdentity<'_>, &ConfiguredHook> = HashMap::new();
    for (at, entry) in of_event {
        let skip_reason =
            reason_to_skip(profile, settings, entry).or_else(|| mismatch(entry)).or_else(|| {
                let first = seen.entry(hook_identity(profile, entry)?).or_insert(entry);
                let again = !std::ptr::eq(*first, entry);
                again.then(|| format!("duplicate of the hook at {}:{}", first.file, first.place.line))
            });
        let matched = skip_reason.is_none();
        plan.sequential |= matched && entry.sequential;
        plan.steps.push(PlannedHook {
            entry: at,
            matched,
            why: skip_reason.unwrap_or_else(|| reason_to_run(entry)),
        });
    }
    plan.steps.extend(of_other_events.into_iter().map(|(at, entry)| {
        let why = format!("for event `{}`, not `{name}`", entry.event);
        PlannedHook { entry: at, matched: false, why }
    }));
    plan
}

fn reason_to_run(entry: &ConfiguredHook) -> String {
    match entry.matcher.as_ref() {
        Some(serde_json::Value::String(matcher)) => format!("matcher `{matcher}` matches"),
        Some(matcher) => format!("matcher {matcher} matches"),
        None => "no matcher: runs for every call".to_owned(),
    }
}

/// Reason that keeps a hook from running regardless of its matcher.
fn reason_to_skip(profile: &Profile, settings: &ProfileSettings, entry: &ConfiguredHook) -> Option<String> {
    if !settings.enabled {
        let why = settings.why_disabled.as_deref().unwrap_or("hooks are turned off");
        return Some(why.to_owned());
    }
    if !entry.enabled {
        return Some(format!("`{}` is in the list of disabled hooks", entry.label()));
    }
    let row = profile.event(&entry.event)?;
    if !row.kinds.contains(&entry.kind) {
        return Some(format!("`{}` hooks do not run at `{}`", entry.kind.word(), row.name));
    }
    let never_runs = entry.condition_if.is_some() && !entry.concerns_tool(profile);
    never_runs.then(|| format!("hooks with an `if` do not run at `{}`", row.name))
}

fn sort_rank(profile: &Profile, entry: &ConfiguredHook) -> i32 {
    match profile.order {
        HookOrder::Configured => 0,
        HookOrder::Priority => entry.priority,
        // Hooks from all settings files have the same rank.
        HookOrder::Source => match entry.source {
            SettingsSource::Runtime => SettingsSource::Runtime.rank(),
            SettingsSource::Extensions => SettingsSource::Extensions.rank(),
            _ => SettingsSource::Project.rank(),
        },
    }
}

#[derive(PartialEq, Eq, Hash)]
enum HookIdentity<'a> {
    Text(String),
    Handler { kind: HookKind, from: Option<&'a str>, what: [Option<&'a str>; 5], args: Option<&'a [String]> },
}

fn hook_identity<'a>(profile: &Profile, entry: &'a ConfiguredHook) -> Option<HookIdentity<'a>> {
    let command = entry.command.as_deref().unwrap_or_default();
    match profile.dedupe {
        DedupeRule::Never => None,
        DedupeRule::Command => Some(HookIdentity::Text(command.to_owned())),
        DedupeRule::NameAndCommand => {
            Some(HookIdentity::Text(format!("{}:{command}", entry.name.as_deref().unwrap_or_default())))
        }
        DedupeRule::Handler => Some(HookIdentity::Handler {
            kind: entry.kind,
            from: (entry.source == SettingsSource::Extensions).then_some(entry.file.as_str()),
            what: [&entry.command, &entry.url, &entry.prompt, &entry.server, &entry.tool]
                .map(Option::as_deref),
            args: entry.args.as_deref(),
        }),
    }
}

impl HookPlan {
    /// The entries that run, in order.
    pub fn entries(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter(|step| step.matched).map(|step| step.entry)
    }
}

#[cfg(test)]
mod tests;
