// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes conditions in words, for the pages about rules.

use serde::Serialize;
use tenterhook_event::EventKind;
use tenterhook_facts::{ExecLocation, PathLocation};

use super::RuleMatcher;
use super::effect::{EffectCondition, describe_operation};
use super::glob::{HostGlobs, NameGlobs, PathGlobs};
use super::lazy_regex::LazyRegex;
use super::mcp::McpCondition;
use super::one_or_more::{OneOrMore, values};
use super::package::PackageCondition;
use super::regexes::RegexCondition;
use super::shell::{OperandCondition, ShellCondition};
use super::url::UrlCondition;

/// Maximum number of values of a list that are written out.
const MAX_SHOWN_VALUES: usize = 8;

impl RuleMatcher {
    /// Describes the conditions, one line for each alternative. Events in `usual` are not mentioned.
    pub(crate) fn describe(&self, usual: &[EventKind]) -> Vec<String> {
        let own = self.describe_own(usual);
        if self.any().is_empty() {
            return vec![own];
        }
        let join = |line: String| if own.is_empty() { line } else { format!("{own}; and {line}") };
        self.any().iter().flat_map(|inner| inner.describe(usual)).map(join).collect()
    }

    /// Describes the conditions except the alternatives.
    fn describe_own(&self, usual: &[EventKind]) -> String {
        let Self {
            event,
            tool,
            source,
            shell,
            effect,
            path,
            url,
            host: _,
            mcp,
            package,
            secret,
            regex,
            user,
            group,
            label,
            unparsed,
            any: _,
            not,
        } = self;
        let mut parts = Vec::new();
        let event = event.as_ref().filter(|event| event.0 != usual);
        parts.extend(
            event.map(|event| format!("the event is {}", join_codes(event.0.iter().map(|kind| kind.name())))),
        );
        parts.extend(tool.as_ref().map(|tool| {
            let classes = tool.classes.iter().map(|class| format_code(class.name()));
            let names = tool.names.as_ref().map(|names| names.display_list().to_owned());
            let except = tool.except.as_ref().map(|names| format!(" except {}", names.display_list()));
            let named: Vec<_> = classes.chain(names).collect();
            format!("the tool is {}{}", named.join(", "), except.unwrap_or_default())
        }));
        parts.extend(describe_names(source.as_ref(), "the harness is"));
        parts.extend(shell.as_ref().map(|shell| format!("a command {}", shell.describe())));
        parts.extend(effect.as_ref().map(|effect| format!("the call {}", effect.describe())));
        parts.extend(path.as_ref().map(|path| format!("the call names {}", path.display_list())));
        parts.extend(url.as_ref().map(|url| format!("the call connects to an address {}", url.describe())));
        parts.extend(mcp.as_ref().map(|mcp| format!("a tool of an MCP server {}", mcp.describe())));
        parts.extend(
            package.as_ref().map(|package| format!("a package is installed or run {}", package.describe())),
        );
        parts.extend(describe_names(secret.as_ref(), "a text of the call contains a secret of the kind"));
        parts.extend(regex.as_ref().map(RegexCondition::describe));
        parts.extend(describe_names(user.as_ref(), "the account is"));
        parts.extend(describe_names(group.as_ref(), "the account is in the group"));
        parts.extend(describe_names(label.as_ref(), "an earlier call of the session set the label"));
        parts.extend(unparsed.map(|unparsed| {
            let what = if unparsed { "a part of the call could not be" } else { "the whole call was" };
            format!("{what} parsed")
        }));
        for exception in values(not.as_ref()) {
            parts.push(format!("not if {}", exception.describe(usual).join(", or ")));
        }
        parts.join("; ")
    }

    /// Whether the rule compares paths or hosts, which may be known only in part.
    pub(crate) fn compares_open_values(&self) -> bool {
        let in_shell = |shell: &ShellCondition| {
            let operand = shell.operand.as_ref().is_some_and(|operand| operand.path.is_some());
            operand
                || [&shell.path, &shell.reads, &shell.input, &shell.output].iter().any(|path| path.is_some())
        };
        self.path.is_some()
            || self.shell.as_ref().is_some_and(in_shell)
            || self.effect.as_ref().is_some_and(|effect| effect.path.is_some())
            || self.url.as_ref().is_some_and(|url| url.host.is_some())
            || self.any().iter().any(Self::compares_open_values)
    }
}

impl ShellCondition {
    fn describe(&self) -> String {
        let Self {
            program,
            first,
            option,
            words,
            operand,
            path,
            reads,
            input,
            output,
            pipes_into,
            ends_in,
            via,
            acts,
            text,
            sql,
            env,
            on,
            not,
        } = self;
        let mut parts = Vec::new();
        parts.extend(describe_names(program.as_ref(), "with the program"));
        parts.extend(describe_names(first.as_ref(), "with the subcommand"));
        let dashed =
            |name: &String| if name.chars().count() == 1 { format!("-{name}") } else { format!("--{name}") };
        parts.extend(
            option
                .as_ref()
                .map(|option| format!("with the option {}", join_codes(option.0.iter().map(dashed)))),
        );
        parts.extend(words.as_ref().map(|words| {
            let words: Vec<_> = words.0.iter().map(NameGlobs::display_list).collect();
            format!("with the words {}", words.join(", then "))
        }));
        parts.extend(operand.as_ref().map(|operand| format!("with an operand {}", operand.describe())));
        let paths = [
            (path, "that names"),
            (reads, "that reads"),
            (input, "with the input"),
            (output, "with the output"),
        ];
        for (globs, what) in paths {
            parts.extend(globs.as_ref().map(|globs| format!("{what} {}", globs.display_list())));
        }
        parts.extend(describe_names(pipes_into.as_ref(), "whose output reaches"));
        parts.extend(describe_names(ends_in.as_ref(), "whose output ends in"));
        parts.extend(describe_names(via.as_ref(), "started by"));
        parts.extend(describe_names(acts.as_ref(), "that acts as"));
        parts.extend(describe_patterns(text.as_ref(), "with a text that matches"));
        parts.extend(describe_patterns(sql.as_ref(), "with an SQL statement that matches"));
        parts.extend(describe_names(env.as_ref(), "with the variable"));
        parts.extend(describe_locations(on.as_ref()));
        for exception in values(not.as_ref()) {
            parts.push(format!("except {}", exception.describe()));
        }
        parts.join(", ")
    }
}

impl OperandCondition {
    fn describe(&self) -> String {
        let Self { place, path } = self;
        let path = path.as_ref().map(|path| format!("like {}", path.display_list()));
        let parts: Vec<_> = describe_places(place.as_ref()).into_iter().chain(path).collect();
        parts.join(" and ")
    }
}

impl EffectCondition {
    fn describe(&self) -> String {
        let Self { does, path, place, recursive, certain, by, on, not } = self;
        let does: Vec<_> = values(does.as_ref()).iter().map(|does| describe_operation(*does)).collect();
        let path = path.as_ref().map(PathGlobs::display_list);
        let unnamed = || (!does.is_empty()).then(|| "a path".to_owned());
        let verb = (!does.is_empty()).then(|| does.join(" or "));
        let start = verb.into_iter().chain(path.or_else(unnamed)).chain(describe_places(place.as_ref()));
        let start = start.collect::<Vec<_>>().join(" ");
        let mut parts = if start.is_empty() { Vec::new() } else { vec![start] };
        let depth = |recursive: bool| if recursive { "with everything below it" } else { "alone" };
        parts.extend(recursive.map(|recursive| depth(recursive).to_owned()));
        parts.extend((*certain == Some(true)).then(|| "for certain".to_owned()));
        parts.extend(describe_names(by.as_ref(), "by"));
        parts.extend(describe_locations(on.as_ref()));
        for exception in values(not.as_ref()) {
            parts.push(format!("except {}", exception.describe()));
        }
        parts.join(", ")
    }
}

impl UrlCondition {
    fn describe(&self) -> String {
        let Self { host, scheme, port, user, numeric, loopback } = self;
        let mut parts = Vec::new();
        parts.extend(describe_names(host.as_ref().map(HostGlobs::names), "of the host"));
        parts.extend(describe_names(scheme.as_ref(), "with the scheme"));
        parts.extend(
            port.as_ref()
                .map(|port| format!("with the port {}", join_codes(port.0.iter().map(u16::to_string)))),
        );
        for (flag, what) in
            [(user, "a user name"), (numeric, "a number as its host"), (loopback, "this machine as its host")]
        {
            parts.extend(flag.map(|flag| format!("{} {what}", if flag { "with" } else { "without" })));
        }
        parts.join(" ")
    }
}

impl McpCondition {
    fn describe(&self) -> String {
        let Self { server, tool, acts } = self;
        let mut parts = vec!["is called".to_owned()];
        parts.extend(describe_names(server.as_ref().map(|server| &server.written), "of the server"));
        parts.extend(describe_names(tool.as_ref().map(|tool| &tool.written), "with the name"));
        parts.extend(describe_names(acts.as_ref(), "that does this:"));
        parts.join(" ")
    }
}

impl PackageCondition {
    fn describe(&self) -> String {
        let Self { manager, name, from, runs, near } = self;
        let mut parts = Vec::new();
        parts.extend(describe_names(manager.as_ref(), "by"));
        parts.extend(describe_names(name.as_ref(), "with the name"));
        parts.extend(from.as_ref().map(|from| format!("from {}", join_codes(from.0.iter().map(name_of)))));
        parts.extend(
            runs.map(|runs| if runs { "and is run at once" } else { "and is not run at once" }.to_owned()),
        );
        parts.extend(near.as_ref().map(|near| {
            format!("whose name differs in one letter from one of {} known names", near.0.len())
        }));
        parts.join(" ")
    }
}

impl RegexCondition {
    fn describe(&self) -> String {
        let Self { command, path, url, content, prompt, args } = self;
        let texts = [
            (command, "the text of a command matches"),
            (path, "a path argument matches"),
            (url, "an address matches"),
            (content, "a text that is written matches"),
            (prompt, "the prompt matches"),
            (args, "the arguments match"),
        ];
        let parts: Vec<_> =
            texts.into_iter().filter_map(|(list, what)| describe_patterns(list.as_ref(), what)).collect();
        parts.join("; ")
    }
}

fn describe_places(places: Option<&OneOrMore<PathLocation>>) -> Option<String> {
    let words = |place: &PathLocation| match place {
        PathLocation::ProjectRoot => "the whole project",
        PathLocation::InsideProject => "in the project",
        PathLocation::OutsideProject => "outside the project",
        PathLocation::Home => "a home directory",
        PathLocation::Root => "the root directory",
        PathLocation::Temp => "in a temporary directory",
        PathLocation::Unknown => "known only at run time",
    };
    let places: Vec<_> = places?.0.iter().map(words).collect();
    Some(format!("({})", places.join(", or ")))
}

/// Describes where something runs, unless it runs on this machine.
fn describe_locations(locations: Option<&OneOrMore<ExecLocation>>) -> Option<String> {
    let locations = &locations?.0;
    let words = |location: &ExecLocation| match location {
        ExecLocation::Here => "on this machine",
        ExecLocation::Container => "in a container",
        ExecLocation::Remote => "on another machine",
    };
    let words: Vec<_> = locations.iter().map(words).collect();
    (locations.as_slice() != [ExecLocation::Here]).then(|| words.join(" or "))
}

fn describe_names(globs: Option<&NameGlobs>, what: &str) -> Option<String> {
    globs.map(|globs| format!("{what} {}", globs.display_list()))
}

fn describe_patterns(patterns: Option<&OneOrMore<LazyRegex>>, what: &str) -> Option<String> {
    patterns.map(|all| format!("{what} {}", join_codes(all.0.iter().map(LazyRegex::text))))
}

/// Writes values as code, separated by commas.
fn join_codes(texts: impl Iterator<Item = impl AsRef<str>>) -> String {
    let all: Vec<_> = texts.map(|text| format_code(text.as_ref())).collect();
    let more = all.len().saturating_sub(MAX_SHOWN_VALUES);
    let shown = all.get(..MAX_SHOWN_VALUES).unwrap_or(&all).join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// Writes a text as code in Markdown. The text may contain backticks.
pub(crate) fn format_code(text: &str) -> String {
    let text = text.replace('\n', "⏎");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// Returns the name of a value in rule files.
fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}
