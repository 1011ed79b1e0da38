// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates rules on text that could not be parsed.
//!
//! Only the words of such text are known. A rule possibly matches if everything that it looks for is mentioned in
//! some form.

use tenterhook_facts::UnreadText;

use super::RuleMatcher;
use super::match_mode::{Explain, MatchInput, MatchMode};

impl RuleMatcher {
    /// Returns the parts of an unparsed text that these conditions look for, if it mentions all of them.
    pub(crate) fn match_unparsed(&self, input: MatchInput<'_>, text: &UnreadText) -> Option<String> {
        self.check_call(input, MatchMode::Any, Explain::Nothing).ok()?;
        let Self {
            // Checked above.
            event: _,
            tool: _,
            source: _,
            user: _,
            group: _,
            label: _,
            unparsed: _,
            shell,
            effect,
            path,
            url,
            // Merged into `url` when the rule was compiled.
            host: _,
            mcp,
            package,
            secret,
            regex,
            any,
            not: _,
        } = self;
        let mut found = None;
        if let Some(shell) = shell {
            found = Some(shell.match_unparsed(text)?);
        }
        if let Some(effect) = effect {
            let what = effect.match_unparsed(text)?;
            found.get_or_insert(what);
        }
        if let Some(paths) = path {
            let glob = paths.find_mentioned(|part| text.contains(part))?;
            found.get_or_insert_with(|| format!("`{glob}`"));
        }
        if let Some(url) = url {
            let what = url.match_unparsed(text)?;
            found.get_or_insert(what);
        }
        if let Some(package) = package {
            let what = package.match_unparsed(text)?;
            found.get_or_insert(what);
        }
        // These conditions look at the call as a whole, parsed or not.
        if let Some(mcp) = mcp {
            mcp.check(input.facts, MatchMode::Any, Explain::Nothing).ok()?;
        }
        if let Some(patterns) = regex {
            patterns.check(input, MatchMode::Any, Explain::Nothing).ok()?;
        }
        if let Some(kinds) = secret {
            input.facts.secrets.iter().find(|secret| kinds.matches(secret.kind))?;
        }
        if let Some(any) = any {
            let inner = any.0.iter().find_map(|matcher| matcher.match_unparsed(input, text))?;
            found.get_or_insert(inner);
        }
        let excepted = |inner: &RuleMatcher| inner.check(input, MatchMode::All, Explain::Nothing).is_ok();
        found.filter(|_| !self.not().iter().any(excepted))
    }
}
