// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a text that could not be parsed mentions of the things a rule looks for.
//!
//! All that is known of such a text is which words it has, so a rule is suspicious when everything it looks for
//! is there in some form.

use tenterhook_facts::Unread;

use super::Matcher;
use super::match_mode::{Explain, MatchInput, MatchMode};

impl Matcher {
    /// What an unread text mentions of the things this looks for, if it mentions enough of them.
    pub(crate) fn match_unparsed(&self, input: MatchInput<'_>, text: &Unread) -> Option<String> {
        self.check_call(input, Explain::Nothing).ok()?;
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
            // Part of `url` since the rule was compiled.
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
            let glob = paths.mentioned(|part| text.contains(part))?;
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
        // These are about the call as it stands, read or not.
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
        let excepted = |inner: &Matcher| inner.check(input, MatchMode::All, Explain::Nothing).is_ok();
        found.filter(|_| !self.not().iter().any(excepted))
    }
}
