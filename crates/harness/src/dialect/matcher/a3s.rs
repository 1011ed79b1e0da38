// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A3S matchers: an object whose fields must all match.

use std::fmt;

use fast_glob::glob_match;
use serde::Deserialize;
use tenterhook_event::{Event, ToolCommand};

use super::pattern::{HookPattern, PatternHit};
use super::{MatcherError, Mismatch, glob};

/// An A3S matcher, as written in settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct A3sMatcher {
    /// Exact name of the tool.
    pub tool: Option<String>,
    /// A glob for any path of the call. A glob without a `/` matches the file name at any depth.
    #[serde(alias = "pathPattern")]
    pub path_pattern: Option<String>,
    /// A regular expression for any command of the call.
    #[serde(alias = "commandPattern")]
    pub command_pattern: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct CompiledA3sMatcher {
    tool: Option<String>,
    path: Option<String>,
    command: Option<(String, HookPattern)>,
}

impl fmt::Display for A3sMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("tool", &self.tool), ("path", &self.path_pattern), ("command", &self.command_pattern)];
        let parts: Vec<_> =
            parts.iter().filter_map(|(name, part)| Some(format!("{name} {}", part.as_deref()?))).collect();
        f.write_str(&parts.join(", "))
    }
}

impl CompiledA3sMatcher {
    pub(super) fn tool(name: &str) -> Self {
        Self { tool: Some(name.to_owned()), path: None, command: None }
    }

    pub(super) fn new(matcher: &A3sMatcher) -> Result<Self, MatcherError> {
        if let Some(path) = &matcher.path_pattern {
            glob::check_glob(path)?;
        }
        let command = matcher.command_pattern.as_ref().map(|text| {
            let pattern = HookPattern::plain(text);
            pattern
                .map(|pattern| (text.clone(), pattern))
                .map_err(|source| MatcherError::CommandPattern { text: text.clone(), source })
        });
        Ok(Self {
            tool: matcher.tool.clone(),
            path: matcher.path_pattern.clone(),
            command: command.transpose()?,
        })
    }

    pub(super) fn evaluate(&self, event: &Event) -> Result<Option<String>, Mismatch> {
        let Some(tool) = &event.tool else {
            let any = self.tool.is_none() && self.path.is_none() && self.command.is_none();
            return if any {
                Ok(None)
            } else {
                Err(Mismatch("the event has no tool, and the matcher requires one".to_owned()))
            };
        };
        if let Some(name) = self.tool.as_ref().filter(|name| **name != tool.name) {
            return Err(Mismatch(format!("the tool is `{}`, not `{name}`", tool.name)));
        }
        if let Some(path) = &self.path
            && !glob::paths(tool).into_iter().any(|named| self.covers(path, named, event))
        {
            return Err(Mismatch(format!("no path of the call matches `{path}`")));
        }
        let Some((text, pattern)) = &self.command else { return Ok(None) };
        let hits = tool.commands().into_iter().map(|command| match command {
            ToolCommand::Text(command) => pattern.find(command),
            ToolCommand::Argv(words) => pattern.find(&words.join(" ")),
        });
        match hits.max().unwrap_or(PatternHit::No) {
            PatternHit::Yes => Ok(None),
            PatternHit::GaveUp => {
                Ok(Some(format!("matching `{text}` on the command takes too long, so the hook runs")))
            }
            PatternHit::No => Err(Mismatch(format!("no command of the call matches `{text}`"))),
        }
    }

    fn covers(&self, pattern: &str, path: &str, event: &Event) -> bool {
        let path = glob::absolute(path, event);
        if !pattern.contains('/') {
            return path.rsplit('/').next().is_some_and(|name| glob_match(pattern, name));
        }
        let inside = [event.cwd.as_deref(), event.project.as_deref()];
        let inside = inside.into_iter().filter_map(|dir| glob::relative_to(&path, dir));
        inside.chain([path.as_str()]).any(|form| glob_match(pattern.trim_start_matches("./"), form))
    }
}
