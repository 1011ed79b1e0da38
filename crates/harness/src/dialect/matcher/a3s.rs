// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A3S's matcher: an object, every field of which has to hold.

use std::fmt;

use fast_glob::glob_match;
use serde::Deserialize;
use tenterhook_event::{Command, Event};

use super::pattern::{Hit, Pattern};
use super::{MatcherError, Mismatch, glob};

/// A3S's matcher, as it is written in settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct A3sMatcher {
    /// The tool, by its exact name.
    pub tool: Option<String>,
    /// A glob on any path of the call; without a `/` it is about the file's name, at any depth.
    #[serde(alias = "pathPattern")]
    pub path_pattern: Option<String>,
    /// A regular expression on any command of the call.
    #[serde(alias = "commandPattern")]
    pub command_pattern: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Compiled {
    tool: Option<String>,
    path: Option<String>,
    command: Option<(String, Pattern)>,
}

impl fmt::Display for A3sMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("tool", &self.tool), ("path", &self.path_pattern), ("command", &self.command_pattern)];
        let parts: Vec<_> =
            parts.iter().filter_map(|(name, part)| Some(format!("{name} {}", part.as_deref()?))).collect();
        f.write_str(&parts.join(", "))
    }
}

impl Compiled {
    pub(super) fn tool(name: &str) -> Self {
        Self { tool: Some(name.to_owned()), path: None, command: None }
    }

    pub(super) fn new(matcher: &A3sMatcher) -> Result<Self, MatcherError> {
        if let Some(path) = &matcher.path_pattern {
            glob::well_formed(path)?;
        }
        let command = matcher.command_pattern.as_ref().map(|text| {
            let pattern = Pattern::plain(text);
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

    pub(super) fn weigh(&self, event: &Event) -> Result<Option<String>, Mismatch> {
        let Some(tool) = &event.tool else {
            let any = self.tool.is_none() && self.path.is_none() && self.command.is_none();
            return if any {
                Ok(None)
            } else {
                Err(Mismatch("there is no tool, and it is for one".to_owned()))
            };
        };
        if let Some(name) = self.tool.as_ref().filter(|name| **name != tool.name) {
            return Err(Mismatch(format!("the tool is `{}`, not `{name}`", tool.name)));
        }
        if let Some(path) = &self.path
            && !glob::paths(tool).into_iter().any(|named| self.covers(path, named, event))
        {
            return Err(Mismatch(format!("no path of the call is one of `{path}`")));
        }
        let Some((text, pattern)) = &self.command else { return Ok(None) };
        let hits = tool.commands().into_iter().map(|command| match command {
            Command::Text(command) => pattern.find(command),
            Command::Argv(words) => pattern.find(&words.join(" ")),
        });
        match hits.max().unwrap_or(Hit::No) {
            Hit::Yes => Ok(None),
            Hit::GaveUp => Ok(Some(format!("`{text}` takes too long on the command, so it is run"))),
            Hit::No => Err(Mismatch(format!("no command of the call matches `{text}`"))),
        }
    }

    fn covers(&self, pattern: &str, path: &str, event: &Event) -> bool {
        let path = glob::absolute(path, event);
        if !pattern.contains('/') {
            return path.rsplit('/').next().is_some_and(|name| glob_match(pattern, name));
        }
        let inside = [event.cwd.as_deref(), event.project.as_deref()];
        let inside = inside.into_iter().filter_map(|dir| glob::below(&path, dir));
        inside.chain([path.as_str()]).any(|form| glob_match(pattern.trim_start_matches("./"), form))
    }
}
