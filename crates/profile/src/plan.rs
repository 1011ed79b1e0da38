// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Plans which of the configured hooks run at an event, and in which order.

use std::collections::HashMap;

use crate::settings::{Entry, Settings, Source};
use crate::switches::{Dedupe, Kind, Order, Profile};

/// The plan for one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Every configured hook: those of the event in the order in which they run, then all others.
    pub steps: Vec<Planned>,
    /// Whether they run sequentially, each with the changes of the previous one.
    pub sequential: bool,
}

/// One configured hook in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Index in [`Settings::entries`].
    pub entry: usize,
    /// Whether it runs.
    pub matched: bool,
    /// Reason why it runs or does not run.
    pub why: String,
}

/// Plans an event. `mismatch` returns the reason why an entry's matcher does not match the event; it is called in the order in
/// which hooks run, and only for hooks that would otherwise run.
///
/// One matching sequential group makes the whole event sequential, as in the originals.
pub fn plan(
    profile: &Profile,
    settings: &Settings,
    event: &str,
    mismatch: &mut dyn FnMut(&Entry) -> Option<String>,
) -> Plan {
    let name = profile.event(event).map_or(event, |row| row.name);
    let (mut here, elsewhere): (Vec<_>, Vec<_>) =
        settings.entries.iter().enumerate().partition(|(_, entry)| entry.event == name);
    here.sort_by_key(|(_, entry)| rank(profile, entry));

    let mut plan = Plan::default();
    let mut seen: HashMap<Key<'_>, &Entry> = HashMap::new();
    for (at, entry) in here {
        let against = speaks_against(profile, settings, entry).or_else(|| mismatch(entry)).or_else(|| {
            let first = seen.entry(key(profile, entry)?).or_insert(entry);
            let again = !std::ptr::eq(*first, entry);
            again.then(|| format!("the same hook as the one at {}:{}", first.file, first.place.line))
        });
        let matched = against.is_none();
        plan.sequential |= matched && entry.sequential;
        plan.steps.push(Planned { entry: at, matched, why: against.unwrap_or_else(|| runs(entry)) });
    }
    plan.steps.extend(elsewhere.into_iter().map(|(at, entry)| {
        let why = format!("it is for `{}`, this is `{name}`", entry.event);
        Planned { entry: at, matched: false, why }
    }));
    plan
}

fn runs(entry: &Entry) -> String {
    match entry.matcher.as_ref() {
        Some(serde_json::Value::String(matcher)) => format!("its matcher `{matcher}` fits"),
        Some(matcher) => format!("its matcher {matcher} fits"),
        None => "it has no matcher, so it always runs".to_owned(),
    }
}

/// Reason that keeps a hook from running regardless of its matcher.
fn speaks_against(profile: &Profile, settings: &Settings, entry: &Entry) -> Option<String> {
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
    let lame = entry.condition_if.is_some() && !entry.concerns_tool(profile);
    lame.then(|| format!("it has an `if`, and with one no hook runs at `{}`", row.name))
}

fn rank(profile: &Profile, entry: &Entry) -> i32 {
    match profile.order {
        Order::Configured => 0,
        Order::Priority => entry.priority,
        // Merged settings have one source, regardless of the file.
        Order::Source => match entry.source {
            Source::Runtime => Source::Runtime.rank(),
            Source::Extensions => Source::Extensions.rank(),
            _ => Source::Project.rank(),
        },
    }
}

#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Text(String),
    Handler { kind: Kind, from: Option<&'a str>, what: [Option<&'a str>; 5], args: Option<&'a [String]> },
}

fn key<'a>(profile: &Profile, entry: &'a Entry) -> Option<Key<'a>> {
    let command = entry.command.as_deref().unwrap_or_default();
    match profile.dedupe {
        Dedupe::Never => None,
        Dedupe::Command => Some(Key::Text(command.to_owned())),
        Dedupe::NameAndCommand => {
            Some(Key::Text(format!("{}:{command}", entry.name.as_deref().unwrap_or_default())))
        }
        Dedupe::Handler => Some(Key::Handler {
            kind: entry.kind,
            from: (entry.source == Source::Extensions).then_some(entry.file.as_str()),
            what: [&entry.command, &entry.url, &entry.prompt, &entry.server, &entry.tool]
                .map(Option::as_deref),
            args: entry.args.as_deref(),
        }),
    }
}

impl Plan {
    /// The entries that run, in order.
    pub fn entries(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter(|step| step.matched).map(|step| step.entry)
    }
}

#[cfg(test)]
mod tests;
