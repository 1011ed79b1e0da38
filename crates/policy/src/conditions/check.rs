// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The conditions of a rule, checked one by one. The first that fails is reported.

use tenterhook_event::Event;
use tenterhook_facts::Side;

use super::Matcher;
use super::match_mode::{Check, Explain, MatchInput, MatchMode, Matched, OPEN_OPTION, one_of};

impl Matcher {
    /// Whether all conditions hold.
    pub(crate) fn check(&self, input: MatchInput<'_>, mode: MatchMode, explain: Explain) -> Check {
        self.check_parts(input, mode, explain, None)
    }

    /// The same, when it is known that only these of the alternatives could hold.
    pub(crate) fn check_parts(
        &self,
        input: MatchInput<'_>,
        mode: MatchMode,
        explain: Explain,
        parts: Option<&[u16]>,
    ) -> Check {
        self.check_call(input, explain)?;
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
            // Part of `url` since the rule was compiled.
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
        let mut note = |held: Matched| {
            if !held.certain {
                (certain, doubt) = (false, held.doubt);
            }
            found.push(held.why);
        };
        let MatchInput { event, facts, .. } = input;
        // A call that was not understood may do more than what is seen of it.
        if mode == MatchMode::All && facts.unparsed && *unparsed != Some(true) && self.is_narrow() {
            return Err(explain.with(|| "part of the call could not be understood".to_owned()));
        }
        if let Some(shell) = shell {
            note(shell.check_all(&facts.commands, mode, effect.is_some(), explain)?);
        }
        if let Some(effect) = effect {
            note(effect.check_all(&facts.effects, mode, input.locked, explain)?);
        }
        if let Some(paths) = path {
            let here = facts.commands.iter().filter(|command| command.on == Side::Here);
            let of_commands = here.flat_map(|command| command.operands.iter().chain(&command.inputs));
            let path = mode.path(paths, facts.paths.iter().chain(of_commands));
            let path = path.ok_or_else(|| explain.with(|| format!("no path is one of {}", paths.list())))?;
            note(Matched::certainly(path));
        }
        if let Some(url) = url {
            note(Matched::certainly(url.check_all(&facts.urls, mode, explain)?));
        }
        if let Some(mcp) = mcp {
            note(mcp.check(facts, mode, explain)?);
        }
        if let Some(package) = package {
            note(Matched::certainly(package.check_all(&facts.packages, mode, explain)?));
        }
        if let Some(kinds) = secret {
            let secret = mode.pick(facts.secrets.iter(), |secret| kinds.matches(secret.kind));
            let secret = secret.ok_or_else(|| {
                explain.with(|| format!("no secret of the kind {} is in the call", kinds.list()))
            })?;
            note(Matched::certainly(format!("a secret (`{}`) in the {}", secret.kind, secret.within)));
        }
        if let Some(patterns) = regex {
            note(Matched::certainly(patterns.check(input, mode, explain)?));
        }
        if let Some(any) = any {
            note(check_any(&any.0, input, mode, explain, parts)?);
        }
        for inner in not.iter().flat_map(|not| &not.0) {
            match inner.check(input, mode.other(), Explain::Nothing) {
                Ok(held) if held.certain || mode == MatchMode::All => {
                    return Err(explain.with(|| format!("an exception holds: {}", held.why)));
                }
                // It may hold.
                Ok(_) => certain = false,
                Err(_) => {}
            }
        }
        if found.is_empty() {
            found.push(format!("{} of {}", event.event, tool_name(event)));
        }
        Ok(Matched { why: found.join(", "), certain, doubt })
    }

    /// The conditions that are not about what the call does.
    pub(super) fn check_call(&self, input: MatchInput<'_>, explain: Explain) -> Result<(), String> {
        let MatchInput { event, facts, state, locked: _ } = input;
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
            return Err(explain.with(|| format!("it is not about `{}` events", event.event)));
        }
        if let Some(tool) = tool
            && !tool.matches(event)
        {
            return Err(explain.with(|| format!("it is not about {}", tool_name(event))));
        }
        one_of(source.as_ref(), Some(event.source.as_str()), "the harness", explain)?;
        one_of(user.as_ref(), facts.user.as_deref(), "who runs the agent", explain)?;
        one_of(group.as_ref(), facts.groups.iter().map(String::as_str), "no group of theirs", explain)?;
        one_of(label.as_ref(), state.labels(), "no label of the session", explain)?;
        if let Some(unparsed) = *unparsed
            && unparsed != facts.unparsed
        {
            let why = if unparsed { "all of it was understood" } else { "part of it was not understood" };
            return Err(explain.with(|| why.to_owned()));
        }
        Ok(())
    }
}

fn check_any(
    any: &[Matcher],
    input: MatchInput<'_>,
    mode: MatchMode,
    explain: Explain,
    parts: Option<&[u16]>,
) -> Check {
    let mut held: Option<Matched> = None;
    // Whether it is enough.
    let mut look = |matcher: &Matcher| {
        let other = matcher.check(input, mode, Explain::Nothing).ok();
        let certain = other.as_ref().is_some_and(|other| other.certain);
        held = other.or_else(|| held.take());
        certain
    };
    match parts {
        None => any.iter().any(&mut look),
        Some(parts) => parts.iter().filter_map(|part| any.get(usize::from(*part))).any(&mut look),
    };
    held.ok_or_else(|| {
        explain.with(|| {
            let first = any.first().and_then(|matcher| matcher.check(input, mode, explain).err());
            let first = first.unwrap_or_default();
            format!("none of its {} alternatives holds; the first: {first}", any.len())
        })
    })
}

fn tool_name(event: &Event) -> String {
    event.tool.as_ref().map_or_else(
        || "an event without a tool".to_owned(),
        |tool| format!("the tool `{}` of class `{}`", tool.name, tool.class.name()),
    )
}
