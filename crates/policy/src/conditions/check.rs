// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks the conditions of a rule one by one and reports the first that fails.

use tenterhook_event::Event;
use tenterhook_facts::ExecLocation;

use super::RuleMatcher;
use super::match_mode::{
    Check, Explain, MatchFailure, MatchInput, MatchMode, Matched, OPEN_OPTION, check_names,
};

impl RuleMatcher {
    /// Checks all conditions.
    pub(crate) fn check(&self, input: MatchInput<'_>, mode: MatchMode, explain: Explain) -> Check {
        self.check_with_alternatives(input, mode, explain, None)
    }

    /// Checks all conditions, but only these alternatives.
    pub(crate) fn check_with_alternatives(
        &self,
        input: MatchInput<'_>,
        mode: MatchMode,
        explain: Explain,
        alternatives: Option<&[u16]>,
    ) -> Check {
        self.check_call(input, mode, explain)?;
        let Self {
            // Checked above.
            event: _,
            tool: _,
            source: _,
            user: _,
            group: _,
            label: _,
            unparsed,
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
            not,
        } = self;
        let mut found = Vec::new();
        let (mut certain, mut doubt) = (true, OPEN_OPTION);
        let mut note = |matched: Matched| {
            if !matched.certain {
                (certain, doubt) = (false, matched.doubt);
            }
            found.push(matched.why);
        };
        let MatchInput { event, facts, .. } = input;
        // A call that was not fully parsed may do more than its facts show.
        if mode == MatchMode::All && facts.unparsed && *unparsed != Some(true) && self.is_narrow() {
            return Err(explain.failure(|| "part of the call could not be parsed".to_owned()));
        }
        if let Some(shell) = shell {
            note(shell.check_all(&facts.commands, mode, effect.is_some(), explain)?);
        }
        if let Some(effect) = effect {
            note(effect.check_all(&facts.effects, mode, explain)?);
        }
        if let Some(paths) = path {
            let here = facts.commands.iter().filter(|command| command.on == ExecLocation::Here);
            let of_commands = here.flat_map(|command| command.operands.iter().chain(&command.inputs));
            let path = mode.path(paths, facts.paths.iter().chain(of_commands));
            note(
                path.ok_or_else(|| explain.failure(|| format!("no path matches {}", paths.display_list())))?,
            );
        }
        if let Some(url) = url {
            note(Matched::certain(url.check_all(&facts.urls, mode, explain)?));
        }
        if let Some(mcp) = mcp {
            note(mcp.check(facts, mode, explain)?);
        }
        if let Some(package) = package {
            note(Matched::certain(package.check_all(&facts.packages, mode, explain)?));
        }
        if let Some(kinds) = secret {
            let secret = mode.pick(facts.secrets.iter(), |secret| kinds.matches(secret.kind));
            let secret = secret.ok_or_else(|| {
                explain.failure(|| format!("no secret of kind {} in the call", kinds.display_list()))
            })?;
            note(Matched::certain(format!("a secret (`{}`) in the {}", secret.kind, secret.within)));
        }
        if let Some(patterns) = regex {
            note(Matched::certain(patterns.check(input, mode, explain)?));
        }
        if let Some(any) = any {
            note(check_any(&any.0, input, mode, explain, alternatives)?);
        }
        for inner in not.iter().flat_map(|not| &not.0) {
            match inner.check(input, mode.inverse(), Explain::Nothing) {
                Ok(matched) if matched.certain || mode == MatchMode::All => {
                    return Err(explain.failure(|| format!("an exception holds: {}", matched.why)));
                }
                // It is not certain that the exception matches, so the rule possibly matches.
                Ok(_) => certain = false,
                Err(_) => {}
            }
        }
        if found.is_empty() {
            found.push(format!("`{}` event, {}", event.event, tool_name(event)));
        }
        Ok(Matched { why: found.join(", "), certain, doubt })
    }

    /// Checks the conditions that do not depend on what the call does.
    pub(super) fn check_call(
        &self,
        input: MatchInput<'_>,
        mode: MatchMode,
        explain: Explain,
    ) -> Result<(), MatchFailure> {
        let MatchInput { event, facts, state } = input;
        let Self {
            event: kinds,
            tool,
            source,
            user,
            group,
            label,
            unparsed,
            shell: _,
            effect: _,
            path: _,
            url: _,
            host: _,
            mcp: _,
            package: _,
            secret: _,
            regex: _,
            any: _,
            not: _,
        } = self;
        if kinds.as_ref().is_some_and(|kinds| !kinds.0.contains(&event.event)) {
            return Err(explain.failure(|| format!("`{}` events are not covered", event.event)));
        }
        if let Some(tool) = tool
            && !tool.matches(event)
        {
            return Err(explain.failure(|| format!("{} is not covered", tool_name(event))));
        }
        check_names(source.as_ref(), Some(event.source.as_str()), "the harness", explain)?;
        check_names(user.as_ref(), facts.user.as_deref(), "the user", explain)?;
        check_names(
            group.as_ref(),
            facts.groups.iter().map(String::as_str),
            "no group of the user",
            explain,
        )?;
        // A session whose state was lost may have had any label.
        if !(state.is_incomplete && mode == MatchMode::Any) {
            check_names(
                label.as_ref(),
                state.labels(event.ts.unix_ms()),
                "no label of the session",
                explain,
            )?;
        }
        if let Some(unparsed) = *unparsed
            && unparsed != facts.unparsed
        {
            let why =
                if unparsed { "the whole call was parsed" } else { "part of the call could not be parsed" };
            return Err(explain.failure(|| why.to_owned()));
        }
        Ok(())
    }
}

fn check_any(
    any: &[RuleMatcher],
    input: MatchInput<'_>,
    mode: MatchMode,
    explain: Explain,
    alternatives: Option<&[u16]>,
) -> Check {
    let mut matched: Option<Matched> = None;
    // Returns whether a certain match was found, which ends the search.
    let mut look = |matcher: &RuleMatcher| {
        let other = matcher.check(input, mode, Explain::Nothing).ok();
        let certain = other.as_ref().is_some_and(|other| other.certain);
        matched = other.or_else(|| matched.take());
        certain
    };
    match alternatives {
        None => any.iter().any(&mut look),
        Some(numbers) => numbers.iter().filter_map(|number| any.get(usize::from(*number))).any(&mut look),
    };
    matched.ok_or_else(|| {
        explain.failure(|| {
            let first = any.first().and_then(|matcher| matcher.check(input, mode, explain).err());
            let first = first.map(|failure| failure.0).unwrap_or_default();
            format!("none of {} alternatives holds; the first: {first}", any.len())
        })
    })
}

fn tool_name(event: &Event) -> String {
    event.tool.as_ref().map_or_else(
        || "an event without a tool".to_owned(),
        |tool| format!("tool `{}` (class `{}`)", tool.name, tool.class.name()),
    )
}
