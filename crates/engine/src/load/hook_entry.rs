// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads one entry of `hooks:` from YAML and converts it into a hook.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tenterhook_document::{Misfit, Node, Spot, Value};
use tenterhook_event::{EventKind, TOOLS, ToolRow};
use tenterhook_harness::HARNESSES;
use tenterhook_harness::dialect::{self, A3sMatcher, EventMatcher, HookDialect, permission_rule};

use super::{HookDefaults, LoadContext};
use crate::{CommandHook, CommandLine, FailMode, Hook, HookBackend, HookCondition};

/// Maximum number of bytes read from a hook's standard output, standard error or HTTP response.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// A hook as written in YAML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookEntry {
    id: String,
    on: EventNames,
    #[serde(default, rename = "match")]
    matcher: Option<MatchEntry>,
    #[serde(default, rename = "if")]
    only_if: Option<String>,
    #[serde(default)]
    when: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    exec: Option<Vec<String>>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    dialect: Option<String>,
    #[serde(default)]
    timeout: Option<String>,
    #[serde(default)]
    priority: i32,
    #[serde(default)]
    chain: Option<String>,
    #[serde(default)]
    fail: Option<FailMode>,
    #[serde(default, rename = "async")]
    observes: bool,
    #[serde(default)]
    enabled: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`on` must be an event or a list of events")]
enum EventNames {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "`match` must be a string, or a map of `tool`, `path_pattern` and `command_pattern`"
)]
enum MatchEntry {
    Text(String),
    Parts(A3sMatcher),
}

/// Creates errors that point at a key of the entry, or at the entry itself.
struct EntryLocator<'a>(&'a Node);

impl EntryLocator<'_> {
    fn misfit(&self, key: &str, message: impl Into<String>) -> Misfit {
        Misfit { spot: self.0.get(key).unwrap_or(self.0).spot, message: message.into() }
    }
}

impl HookEntry {
    /// Converts the entry into a hook and its warnings, or returns all errors.
    pub(super) fn into_hook(
        self,
        item: &Node,
        defaults: &HookDefaults,
        context: &LoadContext<'_>,
    ) -> Result<(Hook, Vec<Misfit>), Vec<Misfit>> {
        let entry = EntryLocator(item);
        let (mut warnings, mut wrong) = (Vec::new(), Vec::new());
        if self.id.trim().is_empty() {
            wrong.push(entry.misfit("id", "`id` is empty"));
        }
        let found = self.dialect(&entry);
        // If the dialect is unknown, the native dialect is used to check the rest of the entry.
        let dialect = *found.as_ref().unwrap_or(&dialect::NATIVE);
        wrong.extend(found.err());
        let on = ok_or_push(self.kinds(&entry), &mut wrong);
        let matcher = ok_or_push(self.matcher(&entry, dialect, &mut warnings), &mut wrong);
        let only_if = self.only_if.as_deref().map(permission_rule).transpose();
        let only_if = ok_or_push(only_if.map_err(|error| entry.misfit("if", error.to_string())), &mut wrong);
        let when = ok_or_push(self.condition(&entry), &mut wrong);
        let timeout = ok_or_push(self.time(&entry, dialect, defaults), &mut wrong);
        wrong.extend(self.check_keys(&entry));
        let runner = ok_or_push(self.runner(&entry, dialect, context), &mut wrong);
        let (Some(on), Some(matcher), Some(only_if), Some(when), Some(timeout), Some(runner), true) =
            (on, matcher, only_if, when, timeout, runner, wrong.is_empty())
        else {
            wrong.sort_by_key(|misfit| misfit.spot);
            return Err(wrong);
        };
        if on.contains(&EventKind::PreTool)
            && self.matcher.is_none()
            && self.when.is_none()
            && self.only_if.is_none()
        {
            warnings.push(entry.misfit("on", "no `match`: the hook runs before every tool call"));
        }
        let hook = Hook {
            on,
            matcher,
            only_if,
            when,
            priority: self.priority,
            chain: self.chain.as_deref().map(Arc::from),
            timeout,
            fail: self.fail.unwrap_or(defaults.fail),
            observes: self.observes,
            enabled: self.enabled.unwrap_or(true),
            runner,
            id: self.id.into(),
        };
        Ok((hook, warnings))
    }

    /// Reports keys that are not valid for this kind of hook, and invalid variable names.
    fn check_keys(&self, entry: &EntryLocator<'_>) -> Vec<Misfit> {
        let mut wrong = Vec::new();
        if self.url.is_none() && !self.headers.is_empty() {
            wrong.push(entry.misfit("headers", "`headers` is only valid with `url`; use `env` for programs"));
        }
        if self.url.is_some() && !self.env.is_empty() {
            wrong.push(
                entry.misfit(
                    "env",
                    "`env` is only valid with `command` and `exec`; use `headers` for endpoints",
                ),
            );
        }
        for name in self.env.keys().filter(|name| name.is_empty() || name.contains(['=', '\0'])) {
            let spot = entry.0.get("env").and_then(|env| key_spot(env, name)).unwrap_or(entry.0.spot);
            wrong.push(Misfit { spot, message: format!("invalid variable name `{name}`") });
        }
        let words = self.exec.iter().flatten().chain(&self.command).chain(self.env.values());
        if words.into_iter().any(|word| word.contains('\0')) {
            wrong.push(entry.misfit("id", "a command or variable contains a NUL character"));
        }
        wrong
    }

    fn dialect(&self, entry: &EntryLocator<'_>) -> Result<&'static HookDialect, Misfit> {
        let name = self.dialect.as_deref().unwrap_or("native");
        dialect::find(name).ok_or_else(|| {
            let known: Vec<_> = dialect::DIALECTS.iter().map(|dialect| dialect.name).collect();
            entry.misfit("dialect", format!("unknown dialect `{name}`; known: {}", known.join(", ")))
        })
    }

    fn kinds(&self, entry: &EntryLocator<'_>) -> Result<Vec<EventKind>, Misfit> {
        let names = match &self.on {
            EventNames::One(name) => std::slice::from_ref(name),
            EventNames::Many(names) => names,
        };
        let mut on = Vec::with_capacity(names.len());
        for name in names {
            let kind =
                find_kind(name).ok_or_else(|| entry.misfit("on", format!("unknown event `{name}`")))?;
            if !on.contains(&kind) {
                on.push(kind);
            }
        }
        if on.is_empty() { Err(entry.misfit("on", "`on` is empty")) } else { Ok(on) }
    }

    fn matcher(
        &self,
        entry: &EntryLocator<'_>,
        dialect: &HookDialect,
        warnings: &mut Vec<Misfit>,
    ) -> Result<EventMatcher, Misfit> {
        match &self.matcher {
            // serde would also accept a list and assign its items to the map's keys by position.
            Some(MatchEntry::Parts(_))
                if matches!(entry.0.get("match").map(|node| &node.value), Some(Value::List(_))) =>
            {
                Err(entry.misfit("match", "`match` must be a string or a map; write `A|B` for two tools"))
            }
            Some(MatchEntry::Parts(parts)) => {
                warnings.extend(
                    parts.tool.as_deref().and_then(check_tool_name).map(|why| entry.misfit("match", why)),
                );
                EventMatcher::a3s(parts).map_err(|error| entry.misfit("match", error.to_string()))
            }
            Some(MatchEntry::Text(text)) => {
                let (matcher, warning) = dialect.matcher(Some(text));
                let misspelt = text.split('|').find_map(|name| misspelt_tool(name.trim()));
                warnings.extend(warning.or(misspelt).map(|why| entry.misfit("match", why)));
                Ok(matcher)
            }
            None => Ok(EventMatcher::all()),
        }
    }

    #[cfg(feature = "when")]
    fn condition(&self, entry: &EntryLocator<'_>) -> Result<Option<Arc<dyn HookCondition>>, Misfit> {
        let Some(text) = &self.when else { return Ok(None) };
        let when =
            tenterhook_when::When::compile(text).map_err(|error| entry.misfit("when", error.to_string()))?;
        Ok(Some(Arc::new(when)))
    }

    #[cfg(not(feature = "when"))]
    fn condition(&self, entry: &EntryLocator<'_>) -> Result<Option<Arc<dyn HookCondition>>, Misfit> {
        match &self.when {
            Some(_) => Err(entry.misfit("when", "this build does not support conditions")),
            None => Ok(None),
        }
    }

    fn time(
        &self,
        entry: &EntryLocator<'_>,
        dialect: &HookDialect,
        defaults: &HookDefaults,
    ) -> Result<Duration, Misfit> {
        match &self.timeout {
            None => Ok(defaults.timeout.unwrap_or(dialect.timeout)),
            Some(text) => parse_duration(text).ok_or_else(|| {
                entry.misfit("timeout", format!("invalid duration `{text}`; write `5s` or `500ms`"))
            }),
        }
    }

    fn runner(
        &self,
        entry: &EntryLocator<'_>,
        dialect: &'static HookDialect,
        context: &LoadContext<'_>,
    ) -> Result<HookBackend, Misfit> {
        let line = match (&self.command, &self.exec, &self.url) {
            (None, None, Some(url)) => return self.http(entry, url, dialect, context),
            (Some(text), None, None) if text.trim().is_empty() => {
                return Err(entry.misfit("command", "`command` is empty"));
            }
            (Some(text), None, None) => CommandLine::Shell(text.clone()),
            (None, Some(words), None) => {
                let Some((program, rest)) = words.split_first().filter(|(program, _)| !program.is_empty())
                else {
                    return Err(entry.misfit("exec", "`exec` is empty"));
                };
                let words = std::iter::once(program).chain(rest);
                CommandLine::Exec(resolve_words(words.map(String::as_str), context))
            }
            (None, None, None) => {
                return Err(entry.misfit("id", "one of `command`, `exec` and `url` is required"));
            }
            _ => return Err(entry.misfit("id", "only one of `command`, `exec` and `url` is allowed")),
        };
        let env = self.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let home = context.home.map(ToOwned::to_owned);
        let dir = context.dir.to_owned();
        Ok(HookBackend::Command(CommandHook {
            line,
            dialect,
            env,
            home,
            dir,
            max_output_bytes: MAX_OUTPUT_BYTES,
        }))
    }

    #[cfg(feature = "http")]
    fn http(
        &self,
        entry: &EntryLocator<'_>,
        url: &str,
        dialect: &'static HookDialect,
        context: &LoadContext<'_>,
    ) -> Result<HookBackend, Misfit> {
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Err(entry.misfit("url", format!("`{url}` is not an http or https address")));
        }
        let mut headers = Vec::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let value = interpolate(value, context.env)
                .map_err(|error| entry.misfit("headers", error.to_string()))?;
            headers.push((name.clone(), value));
        }
        Ok(HookBackend::Http(crate::HttpHook {
            url: url.to_owned(),
            headers,
            dialect,
            max_output_bytes: MAX_OUTPUT_BYTES,
        }))
    }

    #[cfg(not(feature = "http"))]
    fn http(
        &self,
        entry: &EntryLocator<'_>,
        _: &str,
        _: &'static HookDialect,
        _: &LoadContext<'_>,
    ) -> Result<HookBackend, Misfit> {
        Err(entry.misfit("url", "this build does not support HTTP hooks"))
    }
}

/// Returns the value. An error is added to `wrong` instead.
fn ok_or_push<T>(result: Result<T, Misfit>, wrong: &mut Vec<Misfit>) -> Option<T> {
    result.map_err(|misfit| wrong.push(misfit)).ok()
}

/// Returns the position of a key in a map.
fn key_spot(map: &Node, name: &str) -> Option<Spot> {
    let Value::Map(entries) = &map.value else { return None };
    entries.iter().find(|(key, _)| key.text() == Some(name)).map(|(key, _)| key.spot)
}

/// Returns the words of `exec` as the program receives them. No shell reads them, so `~` is expanded here. A relative
/// path of a program or of an interpreter's script is resolved against the directory of the settings file. The
/// working directory is not used, because it is the agent's.
fn resolve_words<'w>(words: impl Iterator<Item = &'w str>, context: &LoadContext<'_>) -> Vec<String> {
    let mut words: Vec<String> =
        words.map(|word| dialect::expand_home(word, context.home).into_owned()).collect();
    let script = crate::needed_files::script_index(&words);
    for (index, word) in words.iter_mut().enumerate() {
        let is_path = (index == 0 && word.contains('/')) || Some(index) == script;
        // A word that starts with `{` contains the placeholder `{kit}` (the directory of the hook package), which is
        // replaced later.
        if is_path && !word.starts_with(['/', '{']) {
            *word = context.dir.join(word.trim_start_matches("./")).display().to_string();
        }
    }
    words
}

/// Returns a warning if the value of `tool:` is a pattern. The value has to be one exact name.
fn check_tool_name(name: &str) -> Option<String> {
    let pattern = name.contains(['|', '*', '?', '[', '/']);
    let warning = || format!("`tool: {name}` is one exact name; write `match: \"{name}\"` for a pattern");
    pattern.then(warning).or_else(|| misspelt_tool(name))
}

/// Returns a warning if a name differs from a known tool name only in case. Such a name would never match.
fn misspelt_tool(name: &str) -> Option<String> {
    let known = |row: &&ToolRow| row.name.eq_ignore_ascii_case(name);
    if TOOLS.iter().any(|row| row.name == name) {
        return None;
    }
    TOOLS.iter().find(known).map(|row| format!("unknown tool `{name}`; did you mean `{}`?", row.name))
}

/// Finds an event kind by Tenterhook's name for it, or by the name that any harness or dialect uses.
fn find_kind(name: &str) -> Option<EventKind> {
    let native = || HARNESSES.iter().find_map(|harness| harness.event(name)).map(|row| row.kind);
    let spoken = || dialect::DIALECTS.iter().find_map(|dialect| dialect.kind(name));
    name.parse().ok().or_else(native).or_else(spoken)
}

/// Parses a duration such as `5s`, `500ms` or `2m`. A number without a unit is invalid.
fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit)?;
    let number: u64 = number.parse().ok()?;
    let duration = match unit {
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number.checked_mul(60)?),
        _ => return None,
    };
    (!duration.is_zero()).then_some(duration)
}

/// Why the variables in a string cannot be expanded.
#[cfg(feature = "http")]
#[derive(Debug, thiserror::Error)]
enum InterpolationError {
    #[error("`{0}` contains `${{` without `}}`")]
    Unclosed(String),
    #[error("variable `{0}` is not set")]
    NotSet(String),
}

/// Expands `${NAME}` in a string. An unset variable is an error: a header with an empty token would not authenticate.
#[cfg(feature = "http")]
fn interpolate(text: &str, env: &BTreeMap<String, String>) -> Result<String, InterpolationError> {
    let mut parts = text.split("${");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) =
            part.split_once('}').ok_or_else(|| InterpolationError::Unclosed(text.to_owned()))?;
        let value = env.get(name).ok_or_else(|| InterpolationError::NotSet(name.to_owned()))?;
        filled.push_str(value);
        filled.push_str(rest);
    }
    Ok(filled)
}
