// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives facts from an event: what a call would do, in terms that rules can match.

use serde::Serialize;
use serde_json::Value;
use tenterhook_event::{Event, McpServers, PathEffect, PathEffectKind, ToolCall, ToolClass, ToolCommand};
use tenterhook_patch::{PatchFile, read_patch};
use tenterhook_paths::{Certainty, FileOp, LinkMap, PathFact, PathRoots, WrittenPath, expand_tilde};
use tenterhook_programs::Programs;
use tenterhook_shell_facts::{
    ExecLocation, FileEffect, RunFile, RunTexts, ShellCommand, UnreadText, builtin_programs,
};

use super::directory::{DirectoryFact, WorkingDirectories};
use super::mcp::McpFact;
use super::package::{PackageFact, packages};
use super::tool_arguments::expand_arguments;
use super::tool_effects::{NamedPath, reads_content, searched_patterns, tool_effects};
use super::url::{UrlFact, parse_url, urls_in, urls_of_command};
use super::variable_reads::attribute_variable_reads;

/// Maximum number of paths named by a tool that are analysed.
const MAX_NAMED_PATHS: usize = 8192;

/// Maximum number of bytes that are searched for words in a command that runs in an unknown directory.
const MAX_UNREAD_BYTES: usize = 16 * 1024;

/// What the caller knows about the machine. The working directory and the project come with the event.
#[derive(Debug, Clone, Copy, Default)]
pub struct EvalEnvironment<'a> {
    /// Home directory of the account that runs the agent.
    pub home: Option<&'a str>,
    /// Account that runs the agent.
    pub user: Option<&'a str>,
    /// Groups of that account.
    pub groups: &'a [&'a str],
    /// Symbolic links on the way to the paths of the call, if they were looked up.
    pub seen: Option<&'a LinkMap>,
    /// MCP servers in the settings of harnesses, if they were read.
    pub servers: Option<&'a McpServers>,
    /// Descriptions of programs, if the policy has its own.
    pub programs: Option<&'a Programs>,
    /// Commands of files that the call runs, if they were read.
    pub run_texts: Option<&'a RunTexts>,
}

impl<'a> EvalEnvironment<'a> {
    /// Returns the descriptions of programs: those of the policy, or the built-in ones.
    fn programs(&self) -> &'a Programs {
        match self.programs {
            Some(programs) => programs,
            None => builtin_programs(),
        }
    }
}

/// What one call would do.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Facts {
    /// Every command that would run, with wrappers such as `sudo` removed.
    pub commands: Vec<ShellCommand>,
    /// Every path that the call names outside a command.
    pub paths: Vec<PathFact>,
    /// Operations on files by the tool itself, by commands and by code.
    pub effects: Vec<FileEffect>,
    /// Lines that patches would add.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<String>,
    /// Addresses that the call would connect to.
    pub urls: Vec<UrlFact>,
    /// Packages that the call would install or run.
    pub packages: Vec<PackageFact>,
    /// Working directories that the arguments name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<DirectoryFact>,
    /// The MCP tool, if the call is an MCP tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpFact>,
    /// Secrets in text that is written, sent, prompted or run.
    pub secrets: Vec<SecretFact>,
    /// Whether some shell text could not be parsed.
    pub unparsed: bool,
    /// Text that could not be parsed, or that is never parsed.
    pub unread: Vec<UnreadText>,
    /// Account that runs the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Groups of that account.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Files on this machine that the call would run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub run_files: Vec<RunFile>,
    /// Symbolic links that were found on the way to the call's paths.
    #[serde(skip_serializing_if = "LinkMap::is_empty")]
    pub links: LinkMap,
    /// Symbolic links that the call creates, each with its target.
    #[serde(skip)]
    pub created_links: Vec<(String, String)>,
    /// Whether the call sets a variable that directs later commands to other files, or one with an unknown name.
    #[serde(skip)]
    pub redirects_later: bool,
}

impl Facts {
    /// Returns the files on this machine that the call would read, write or delete. Paths that are known only at run
    /// time are left out.
    pub fn touched(&self) -> Vec<PathEffect> {
        let here =
            self.effects.iter().filter(|effect| effect.on == ExecLocation::Here && !effect.path.dynamic);
        here.map(|FileEffect { does, path, .. }| PathEffect {
            path: path.resolved.clone().unwrap_or_else(|| path.text.clone()),
            kind: match does {
                FileOp::Read | FileOp::Run => PathEffectKind::Reads,
                FileOp::Write | FileOp::Append | FileOp::Permit => PathEffectKind::Writes,
                FileOp::Delete | FileOp::Move => PathEffectKind::Deletes,
            },
        })
        .collect()
    }
}

impl Facts {
    /// Adds the code of the files that run to the texts that rules search. Returns whether there is such code.
    pub fn include_code_texts(&mut self) -> bool {
        self.commands.iter_mut().map(ShellCommand::include_code_texts).fold(false, |any, has| any | has)
    }
}

/// A secret in a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretFact {
    /// Kind of the secret, such as `github-token`.
    pub kind: &'static str,
    /// Part of the call: `command`, `content`, `args`, `prompt` or `output`.
    pub within: &'static str,
}

/// Derives what a call would do. The work is bounded by the size of the text and of its syntax tree, not by time.
pub fn facts(event: &Event, environment: &EvalEnvironment<'_>) -> Facts {
    let Some(tool) = &event.tool else {
        return Facts { secrets: find_secrets(event, &[]), ..account_facts(event, environment) };
    };
    let expanded = expand_arguments(tool);
    let tool = expanded.as_ref().unwrap_or(tool);
    let ground = path_roots(event, environment);
    let directories = WorkingDirectories::from_call(tool, &event.source, &ground, agent_directory(event));
    let programs = environment.programs();
    let (collected, connects) =
        collect_effects(tool, &event.source, &ground, &directories, event.detail.unhooked_stdin, environment);
    let Facts { user, groups, .. } = account_facts(event, environment);
    let mut facts = Facts { user, groups, ..collected };
    attribute_variable_reads(&mut facts.commands, &mut facts.effects);
    facts.packages = packages(&facts.commands, programs);
    let named = tool.urls().into_iter().chain(connects.iter().map(String::as_str)).filter_map(parse_url);
    let by_commands = facts.commands.iter().flat_map(|command| urls_of_command(command, programs));
    facts.urls = named.chain(by_commands).chain(urls_in_arguments(tool)).collect();
    facts.secrets = find_secrets(event, &facts.contents);
    facts.mcp =
        event.tool.as_ref().and_then(|tool| McpFact::from_call(tool, &event.source, environment.servers));
    facts.follow(environment.seen, &ground, &directories.possible);
    facts.directories = directories.named;
    facts
}

/// Derives only the files that a call would touch, as in [`Facts::touched`], at a lower cost than all facts.
pub fn touched_files(event: &Event, environment: &EvalEnvironment<'_>) -> Vec<PathEffect> {
    let Some(tool) = &event.tool else { return Vec::new() };
    let expanded = expand_arguments(tool);
    let tool = expanded.as_ref().unwrap_or(tool);
    let ground = path_roots(event, environment);
    let directories = WorkingDirectories::from_call(tool, &event.source, &ground, agent_directory(event));
    let (mut facts, _) = collect_effects(tool, &event.source, &ground, &directories, false, environment);
    facts.follow(environment.seen, &ground, &directories.possible);
    facts.touched()
}

fn account_facts(event: &Event, environment: &EvalEnvironment<'_>) -> Facts {
    let user = environment.user.or(event.agent.user.as_deref()).map(str::to_owned);
    let groups = environment.groups.iter().map(|group| (*group).to_owned()).collect();
    Facts { user, groups, ..Facts::default() }
}

/// Returns the directory in which the agent works.
fn agent_directory(event: &Event) -> Option<&str> {
    event.cwd.as_deref().or(event.project.as_deref())
}

pub(crate) fn path_roots(event: &Event, environment: &EvalEnvironment<'_>) -> PathRoots {
    let ground = PathRoots::new(environment.home, event.project.as_deref().or(agent_directory(event)));
    match environment.seen {
        Some(seen) => ground.with_links(seen),
        None => ground,
    }
}

/// Collects the commands, paths, effects and added lines of a call, and the addresses its code connects to. `terminal`
/// means that text can be typed into running processes without firing a hook.
fn collect_effects(
    tool: &ToolCall,
    harness: &str,
    ground: &PathRoots,
    directories: &WorkingDirectories,
    terminal: bool,
    environment: &EvalEnvironment<'_>,
) -> (Facts, Vec<String>) {
    let (programs, files) = (environment.programs(), environment.run_texts);
    let mut unread = Vec::new();
    let (named, left_out) = resolve_named_paths(tool, ground, directories);
    if !left_out.is_empty() {
        unread.push(UnreadText::opaque("too many paths", &left_out.join("\n")));
    }
    let patches: Vec<_> = tool.patches().into_iter().map(read_patch).collect();
    if patches.iter().any(|patch| patch.cut) {
        unread.push(UnreadText::opaque("the patch names too many files", ""));
    }
    let patched: Vec<_> = patches.iter().flat_map(|patch| &patch.files).map(|file| file.does).collect();
    let searched = resolve_searched_files(tool, ground, directories);
    let mut effects = tool_effects(tool, &named, (reads_content(tool, harness), &searched), &patched);
    for file in patches.iter().flat_map(|patch| &patch.files) {
        effects.extend(patch_effects(file, &tool.name, ground, directories));
    }
    let mut facts = Facts::default();
    let mut connects = Vec::new();
    let mut added: Vec<_> = patches
        .into_iter()
        .flat_map(|patch| patch.files.into_iter().map(|file| file.added).chain([patch.loose]))
        .collect();
    for directory in &directories.possible {
        let directory = directory.as_deref();
        let read = tenterhook_shell_facts::read_commands(tool, ground, directory, terminal, programs, files);
        append(&mut facts.commands, read.commands);
        append(&mut effects, read.effects);
        connects.extend(read.connects);
        added.extend(read.contents);
        facts.unparsed |= read.unparsed;
        facts.redirects_later |= read.redirects_later;
        unread.extend(read.unread);
        append(&mut facts.run_files, read.run_files);
    }
    if tool.is_edit() && effects.is_empty() && facts.commands.is_empty() && !lacks_required_path(tool) {
        unread.push(UnreadText::opaque("the edited file is not named", &tool.args.to_string()));
    }
    if directories.is_unknown() && (!facts.commands.is_empty() || !named.is_empty()) {
        let texts: Vec<_> = tool.commands().iter().map(command_text).collect();
        unread.push(UnreadText::new(
            "the working directory is unknown",
            &texts.join("\n"),
            true,
            MAX_UNREAD_BYTES,
        ));
        facts.unparsed = true;
    }
    facts.unparsed |= unread.iter().any(UnreadText::is_opaque);
    facts.paths = named.into_iter().map(|named| named.path).collect();
    facts.contents = added.into_iter().filter(|added| !added.is_empty()).collect();
    (Facts { effects, unread, ..facts }, connects)
}

/// Whether a call names only what to change and no file. Harnesses refuse such a call.
fn lacks_required_path(tool: &ToolCall) -> bool {
    const TEXT_KEYS: &[&str] = &[
        "old_string",
        "new_string",
        "replace_all",
        "content",
        "edits",
        "new_source",
        "cell_id",
        "cell_type",
        "edit_mode",
        "description",
    ];
    let requires = matches!(tool.name.as_str(), "Edit" | "Write" | "MultiEdit" | "NotebookEdit");
    requires
        && tool.args.as_object().is_some_and(|args| args.keys().all(|key| TEXT_KEYS.contains(&key.as_str())))
}

/// Appends a list to another. For calls with a single directory, which are most, the facts are moved instead of
/// copied.
fn append<T>(list: &mut Vec<T>, more: Vec<T>) {
    if list.is_empty() {
        *list = more;
    } else {
        list.extend(more);
    }
}

/// Resolves the paths that a tool names from every directory in which it may run. Also returns the paths beyond
/// the limit.
fn resolve_named_paths<'a>(
    tool: &'a ToolCall,
    ground: &PathRoots,
    directories: &WorkingDirectories,
) -> (Vec<NamedPath>, Vec<&'a str>) {
    let mut texts = tool.paths();
    // Output paths come last.
    let outputs = texts.len().saturating_sub(tool.outputs().len())..texts.len();
    texts.extend(tool.urls().into_iter().filter(|url| url.starts_with("file://")));
    let left_out = texts.split_off(texts.len().min(MAX_NAMED_PATHS));
    let mut named = Vec::with_capacity(texts.len());
    for (at, text) in texts.into_iter().enumerate() {
        // Tools expand `~` as a shell does.
        let whole = expand_tilde(text, &ground.home);
        let shape = whole.as_deref().unwrap_or(text);
        let found = WrittenPath { text, shape, dynamic: false, pattern: false };
        let output = outputs.contains(&at);
        for path in resolve_from_all(&found, ground, directories) {
            named.push(NamedPath { path, output });
        }
    }
    (named, left_out)
}

/// Resolves the patterns of the files whose content a search tool reads. Empty if nothing limits the files.
fn resolve_searched_files(
    tool: &ToolCall,
    ground: &PathRoots,
    directories: &WorkingDirectories,
) -> Vec<PathFact> {
    let patterns = searched_patterns(tool);
    let files = patterns.iter().flat_map(|text| {
        let whole = expand_tilde(text, &ground.home);
        let shape = whole.as_deref().unwrap_or(text);
        resolve_from_all(&WrittenPath { text, shape, dynamic: false, pattern: true }, ground, directories)
    });
    files.collect()
}

/// Resolves a path from every directory in which a call may run.
fn resolve_from_all(
    found: &WrittenPath<'_>,
    ground: &PathRoots,
    directories: &WorkingDirectories,
) -> Vec<PathFact> {
    let mut paths: Vec<PathFact> = Vec::with_capacity(directories.possible.len());
    for directory in &directories.possible {
        let path = ground.classify(found, directory.as_deref());
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn command_text(command: &ToolCommand<'_>) -> String {
    match command {
        ToolCommand::Text(text) => (*text).to_owned(),
        ToolCommand::Argv(words) => words.join(" "),
    }
}

/// Finds secrets in the text that a call writes, runs, sends or prompts. Each kind is reported once per part of the
/// call.
fn find_secrets(event: &Event, patched: &[String]) -> Vec<SecretFact> {
    let mut found: Vec<SecretFact> = Vec::new();
    let mut look = |within: &'static str, text: &str| {
        for secret in tenterhook_secrets::find_secrets(text) {
            let fact = SecretFact { kind: secret.kind, within };
            if !found.contains(&fact) {
                found.push(fact);
            }
        }
    };
    let detail = &event.detail;
    if let Some(text) = &detail.prompt {
        look("prompt", text);
    }
    if let Some(output) = &detail.tool_output {
        match output.as_str() {
            Some(text) => look("output", text),
            None => look("output", &output.to_string()),
        }
    }
    let Some(tool) = &event.tool else { return found };
    for command in tool.commands() {
        match command {
            ToolCommand::Text(text) => look("command", text),
            ToolCommand::Argv(words) => words.iter().for_each(|word| look("command", word)),
        }
    }
    let contents = tool.contents();
    for text in contents.iter().copied().chain(patched.iter().map(String::as_str)) {
        look("content", text);
    }
    if matches!(tool.class, ToolClass::Mcp | ToolClass::Other | ToolClass::Fetch | ToolClass::Agent) {
        look("args", &tool.args.to_string());
    }
    found
}

/// Returns the addresses in any argument of a tool that may connect to them.
fn urls_in_arguments(tool: &ToolCall) -> Vec<UrlFact> {
    fn collect_texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => items.iter().for_each(|item| collect_texts(item, found)),
            Value::Object(entries) => entries.values().for_each(|item| collect_texts(item, found)),
            _ => {}
        }
    }
    // If the tool has an argument for its address, it does not connect to addresses in other arguments.
    if !matches!(tool.class, ToolClass::Mcp | ToolClass::Fetch) || !tool.urls().is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    collect_texts(&tool.args, &mut found);
    found.into_iter().flat_map(urls_in).collect()
}

/// Returns the operations of a patch on one of its files, under each name that the file may have.
fn patch_effects(
    file: &PatchFile,
    by: &str,
    ground: &PathRoots,
    directories: &WorkingDirectories,
) -> Vec<FileEffect> {
    let names = std::iter::once((file.path.as_str(), false));
    let names = names.chain(file.aliases.iter().map(|alias| (alias.path.as_str(), alias.usual)));
    let mut effects = Vec::new();
    for (name, usual) in names {
        let whole = expand_tilde(name, &ground.home);
        let found = WrittenPath {
            text: name,
            shape: whole.as_deref().unwrap_or(name),
            dynamic: false,
            pattern: false,
        };
        for path in resolve_from_all(&found, ground, directories) {
            // A rule that allows the file also allows the prefixed names that diffs use by convention.
            let path = PathFact { is_alias: usual, ..path };
            effects.push(FileEffect {
                does: file.does,
                path,
                recursive: false,
                by: by.to_owned(),
                on: ExecLocation::Here,
                certainty: Certainty::Certain,
                span: None,
            });
        }
    }
    effects
}
