// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One entry: as it is written, and the hook it means.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tenterhook_document::{Misfit, Node, Spot, Value};
use tenterhook_event::{EventKind, TOOLS, ToolRow};
use tenterhook_harness::HARNESSES;
use tenterhook_harness::dialect::{self, A3sMatcher, Dialect, Matcher, permission_rule};

use super::{Around, Defaults};
use crate::{Command, CommandLine, Condition, Fail, Hook, Runner};

/// The most bytes read from each output of a hook.
const OUTPUT_LIMIT: usize = 1024 * 1024;

/// A hook as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    id: String,
    on: OneOrMany,
    #[serde(default, rename = "match")]
    matcher: Option<Match>,
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
    fail: Option<Fail>,
    #[serde(default, rename = "async")]
    observes: bool,
    #[serde(default)]
    enabled: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`on` has to be an event or a list of events")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "`match` has to be a text, or a map of `tool`, `path_pattern` and `command_pattern`"
)]
enum Match {
    Text(String),
    Parts(A3sMatcher),
}

/// Points at a key of the entry, or at the entry.
struct At<'a>(&'a Node);

impl At<'_> {
    fn misfit(&self, key: &str, message: impl Into<String>) -> Misfit {
        Misfit { spot: self.0.get(key).unwrap_or(self.0).spot, message: message.into() }
    }
}

impl Entry {
    /// The hook and what is probably not meant so, or everything that is wrong with it.
    pub(super) fn hook(
        self,
        item: &Node,
        defaults: &Defaults,
        around: &Around<'_>,
    ) -> Result<(Hook, Vec<Misfit>), Vec<Misfit>> {
        let at = At(item);
        let (mut warnings, mut wrong) = (Vec::new(), Vec::new());
        if self.id.trim().is_empty() {
            wrong.push(at.misfit("id", "a hook needs an id"));
        }
        let found = self.dialect(&at);
        // What depends on an unknown dialect is checked by our own.
        let dialect = *found.as_ref().unwrap_or(&dialect::NATIVE);
        wrong.extend(found.err());
        let on = kept(self.kinds(&at), &mut wrong);
        let matcher = kept(self.matcher(&at, dialect, &mut warnings), &mut wrong);
        let only_if = self.only_if.as_deref().map(permission_rule).transpose();
        let only_if = kept(only_if.map_err(|error| at.misfit("if", error.to_string())), &mut wrong);
        let when = kept(self.condition(&at), &mut wrong);
        let timeout = kept(self.time(&at, dialect, defaults), &mut wrong);
        wrong.extend(self.misplaced(&at));
        let runner = kept(self.runner(&at, dialect, around), &mut wrong);
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
            warnings.push(at.misfit("on", "it has no `match`, so it runs before every tool call"));
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

    /// Keys that have no meaning for this hook, and names of variables that no program could get.
    fn misplaced(&self, at: &At<'_>) -> Vec<Misfit> {
        let mut wrong = Vec::new();
        if self.url.is_none() && !self.headers.is_empty() {
            wrong.push(at.misfit("headers", "`headers` goes with `url`; a program gets variables by `env`"));
        }
        if self.url.is_some() && !self.env.is_empty() {
            wrong.push(at.misfit("env", "`env` goes with `command` and `exec`; an endpoint gets `headers`"));
        }
        for name in self.env.keys().filter(|name| name.is_empty() || name.contains(['=', '\0'])) {
            let spot = at.0.get("env").and_then(|env| key_spot(env, name)).unwrap_or(at.0.spot);
            wrong.push(Misfit { spot, message: format!("`{name}` cannot be the name of a variable") });
        }
        let words = self.exec.iter().flatten().chain(&self.command).chain(self.env.values());
        if words.into_iter().any(|word| word.contains('\0')) {
            wrong.push(at.misfit("id", "a command or variable contains a NUL character"));
        }
        wrong
    }

    fn dialect(&self, at: &At<'_>) -> Result<&'static Dialect, Misfit> {
        let spoken = self.dialect.as_deref().unwrap_or("native");
        dialect::find(spoken).ok_or_else(|| {
            let known: Vec<_> = dialect::DIALECTS.iter().map(|dialect| dialect.name).collect();
            at.misfit("dialect", format!("`{spoken}` is no dialect; known: {}", known.join(", ")))
        })
    }

    fn kinds(&self, at: &At<'_>) -> Result<Vec<EventKind>, Misfit> {
        let names = match &self.on {
            OneOrMany::One(name) => std::slice::from_ref(name),
            OneOrMany::Many(names) => names,
        };
        let mut on = Vec::with_capacity(names.len());
        for name in names {
            let kind = kind(name)
                .ok_or_else(|| at.misfit("on", format!("`{name}` is no event that is known here")))?;
            if !on.contains(&kind) {
                on.push(kind);
            }
        }
        if on.is_empty() { Err(at.misfit("on", "`on` names no event")) } else { Ok(on) }
    }

    fn matcher(&self, at: &At<'_>, dialect: &Dialect, warnings: &mut Vec<Misfit>) -> Result<Matcher, Misfit> {
        match &self.matcher {
            // A list would be taken for the map's values in their order.
            Some(Match::Parts(_))
                if matches!(at.0.get("match").map(|node| &node.value), Some(Value::List(_))) =>
            {
                Err(at.misfit("match", "`match` is a text or a map; write `A|B` for two tools"))
            }
            Some(Match::Parts(parts)) => {
                warnings.extend(parts.tool.as_deref().and_then(odd_tool).map(|why| at.misfit("match", why)));
                Matcher::a3s(parts).map_err(|error| at.misfit("match", error.to_string()))
            }
            Some(Match::Text(text)) => {
                let (matcher, warning) = dialect.matcher(Some(text));
                let odd = text.split('|').find_map(|name| misspelt_tool(name.trim()));
                warnings.extend(warning.or(odd).map(|why| at.misfit("match", why)));
                Ok(matcher)
            }
            None => Ok(Matcher::all()),
        }
    }

    #[cfg(feature = "when")]
    fn condition(&self, at: &At<'_>) -> Result<Option<Arc<dyn Condition>>, Misfit> {
        let Some(text) = &self.when else { return Ok(None) };
        let when =
            tenterhook_when::When::compile(text).map_err(|error| at.misfit("when", error.to_string()))?;
        Ok(Some(Arc::new(when)))
    }

    #[cfg(not(feature = "when"))]
    fn condition(&self, at: &At<'_>) -> Result<Option<Arc<dyn Condition>>, Misfit> {
        match &self.when {
            Some(_) => Err(at.misfit("when", "conditions are not built into this program")),
            None => Ok(None),
        }
    }

    fn time(&self, at: &At<'_>, dialect: &Dialect, defaults: &Defaults) -> Result<Duration, Misfit> {
        match &self.timeout {
            None => Ok(defaults.timeout.unwrap_or(dialect.timeout)),
            Some(text) => duration(text).ok_or_else(|| {
                at.misfit("timeout", format!("`{text}` is no duration; write `5s` or `500ms`"))
            }),
        }
    }

    fn runner(&self, at: &At<'_>, dialect: &'static Dialect, around: &Around<'_>) -> Result<Runner, Misfit> {
        let line = match (&self.command, &self.exec, &self.url) {
            (None, None, Some(url)) => return self.http(at, url, dialect, around),
            (Some(text), None, None) if text.trim().is_empty() => {
                return Err(at.misfit("command", "`command` is empty"));
            }
            (Some(text), None, None) => CommandLine::Shell(text.clone()),
            (None, Some(words), None) => {
                let Some((program, rest)) = words.split_first().filter(|(program, _)| !program.is_empty())
                else {
                    return Err(at.misfit("exec", "`exec` is empty"));
                };
                let words = std::iter::once(program).chain(rest);
                CommandLine::Exec(resolved(words.map(String::as_str), around))
            }
            (None, None, None) => {
                return Err(at.misfit("id", "a hook needs one of `command`, `exec` and `url`"));
            }
            _ => return Err(at.misfit("id", "a hook has only one of `command`, `exec` and `url`")),
        };
        let env = self.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let home = around.home.map(ToOwned::to_owned);
        let dir = around.dir.to_owned();
        Ok(Runner::Command(Command { line, dialect, env, home, dir, output_limit: OUTPUT_LIMIT }))
    }

    #[cfg(feature = "http")]
    fn http(
        &self,
        at: &At<'_>,
        url: &str,
        dialect: &'static Dialect,
        around: &Around<'_>,
    ) -> Result<Runner, Misfit> {
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Err(at.misfit("url", format!("`{url}` is no http or https address")));
        }
        let mut headers = Vec::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let value =
                interpolate(value, around.env).map_err(|error| at.misfit("headers", error.to_string()))?;
            headers.push((name.clone(), value));
        }
        Ok(Runner::Http(crate::Http { url: url.to_owned(), headers, dialect, output_limit: OUTPUT_LIMIT }))
    }

    #[cfg(not(feature = "http"))]
    fn http(&self, at: &At<'_>, _: &str, _: &'static Dialect, _: &Around<'_>) -> Result<Runner, Misfit> {
        Err(at.misfit("url", "HTTP hooks are not built into this program"))
    }
}

/// Keeps a value, or notes why there is none.
fn kept<T>(result: Result<T, Misfit>, wrong: &mut Vec<Misfit>) -> Option<T> {
    result.map_err(|misfit| wrong.push(misfit)).ok()
}

/// The place of a key in a map.
fn key_spot(map: &Node, name: &str) -> Option<Spot> {
    let Value::Map(entries) = &map.value else { return None };
    entries.iter().find(|(key, _)| key.text() == Some(name)).map(|(key, _)| key.spot)
}

/// The words of `exec` as the program gets them. No shell reads them, so `~` is expanded here. A program,
/// or an interpreter's script, with a relative path is meant relative to the settings, as the person wrote
/// it there: the working directory belongs to the agent.
fn resolved<'w>(words: impl Iterator<Item = &'w str>, around: &Around<'_>) -> Vec<String> {
    let mut words: Vec<String> =
        words.map(|word| dialect::expand_home(word, around.home).into_owned()).collect();
    let script = crate::program::script_at(&words);
    for (at, word) in words.iter_mut().enumerate() {
        let is_path = (at == 0 && word.contains('/')) || Some(at) == script;
        // `{kit}/…` is filled in later.
        if is_path && !word.starts_with(['/', '{']) {
            *word = around.dir.join(word.trim_start_matches("./")).display().to_string();
        }
    }
    words
}

/// In parts, a tool is one exact name.
fn odd_tool(name: &str) -> Option<String> {
    let pattern = name.contains(['|', '*', '?', '[', '/']);
    let told =
        || format!("`tool: {name}` is one exact name; write `match: \"{name}\"` if it is meant as a pattern");
    pattern.then(told).or_else(|| misspelt_tool(name))
}

/// A name that is a known tool's but for the case: it would silently never match.
fn misspelt_tool(name: &str) -> Option<String> {
    let known = |row: &&ToolRow| row.name.eq_ignore_ascii_case(name);
    if TOOLS.iter().any(|row| row.name == name) {
        return None;
    }
    TOOLS.iter().find(known).map(|row| format!("no tool is called `{name}`; did you mean `{}`?", row.name))
}

/// A kind by our name for it, or by any harness's or dialect's.
fn kind(name: &str) -> Option<EventKind> {
    let native = || HARNESSES.iter().find_map(|harness| harness.event(name)).map(|row| row.kind);
    let spoken = || dialect::DIALECTS.iter().find_map(|dialect| dialect.kind(name));
    name.parse().ok().or_else(native).or_else(spoken)
}

/// `5s`, `500ms`, `2m`. A bare number says nothing about its unit and is refused.
fn duration(text: &str) -> Option<Duration> {
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

/// A text whose variables cannot be filled in.
#[cfg(feature = "http")]
#[derive(Debug, thiserror::Error)]
enum InterpolationError {
    #[error("`{0}` has a `${{` without its `}}`")]
    Unclosed(String),
    #[error("the variable `{0}` is not set")]
    NotSet(String),
}

/// Fills in `${NAME}`. A variable that is not there is an error: an empty token is no token.
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
