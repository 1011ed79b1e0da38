// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Event → facts: what a call would do, in words that rules can be about.

use serde::Serialize;
use serde_json::Value;
use tenterhook_event::{Command, Event, McpServers, ToolCall, ToolClass, Touch, Touches};
use tenterhook_paths::{Certainty, Does, Found, Ground, PathFact, Seen, expand_tilde};
use tenterhook_programs::Programs;
use tenterhook_shell_facts::{Effect, PatchFile, ShellCommand, Side, Unread, builtin_programs, read_patch};

use super::directory::{Directories, DirectoryFact};
use super::mcp::McpFact;
use super::package::{PackageFact, packages};
use super::tool_effects::{NamedPath, by_tool};
use super::url::{UrlFact, url, urls_in, urls_of};

/// No more of the paths that a tool names are looked at.
const MOST_PATHS: usize = 8192;

/// Of a command in an unknown directory, so much is looked through for words.
const MOST_TEXT: usize = 16 * 1024;

/// What the caller knows about the machine. The working directory and the project come with the event.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The home directory of whoever runs the agent.
    pub home: Option<&'a str>,
    /// The account that runs the agent.
    pub user: Option<&'a str>,
    /// Its groups.
    pub groups: &'a [&'a str],
    /// The links on the way to the paths of the call, if somebody looked.
    pub seen: Option<&'a Seen>,
    /// The MCP servers in the settings of harnesses, if they were read.
    pub servers: Option<&'a McpServers>,
    /// The descriptions of programs, if the policy has some of its own.
    pub programs: Option<&'a Programs>,
}

impl<'a> Surroundings<'a> {
    /// The descriptions of programs: those of the policy, else the built-in ones.
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
    /// Every command that would run, however it is wrapped.
    pub commands: Vec<ShellCommand>,
    /// Every path the call names outside a command.
    pub paths: Vec<PathFact>,
    /// What would be done to files: by the tool itself, by commands, by code.
    pub effects: Vec<Effect>,
    /// The lines that patches would add.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<String>,
    /// Where it would connect to.
    pub urls: Vec<UrlFact>,
    /// The packages it would install or run.
    pub packages: Vec<PackageFact>,
    /// The working directories that the arguments name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<DirectoryFact>,
    /// The MCP tool, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpFact>,
    /// Kinds of secrets in what is written, sent, said or run.
    pub secrets: Vec<SecretFact>,
    /// Whether some shell text could not be understood.
    pub unparsed: bool,
    /// The texts that could not be understood, or that nobody reads.
    pub unread: Vec<Unread>,
    /// The account that runs the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Its groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The links that somebody saw on the way to its paths.
    #[serde(skip_serializing_if = "Seen::is_empty")]
    pub links: Seen,
}

impl Facts {
    /// What would happen to which files of this machine. Paths that only the shell would know are left out.
    pub fn touched(&self) -> Vec<Touch> {
        let here = self.effects.iter().filter(|effect| effect.on == Side::Here && !effect.path.dynamic);
        here.map(|Effect { does, path, .. }| Touch {
            path: path.resolved.clone().unwrap_or_else(|| path.text.clone()),
            how: match does {
                Does::Read | Does::Run => Touches::Reads,
                Does::Write | Does::Append | Does::Permit => Touches::Writes,
                Does::Delete | Does::Move => Touches::Deletes,
            },
        })
        .collect()
    }
}

/// A secret in a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretFact {
    /// Which kind, such as `github-token`.
    pub kind: &'static str,
    /// Where: `command`, `content`, `args`, `prompt` or `output`.
    pub within: &'static str,
}

/// Reads what a call would do. Bounded by the size of the text and of its tree, never by a clock.
pub fn facts(event: &Event, around: &Surroundings<'_>) -> Facts {
    let Some(tool) = &event.tool else {
        return Facts { secrets: secrets(event, &[]), ..who(event, around) };
    };
    let ground = ground_of(event, around);
    let places = Directories::of(tool, &event.source, &ground, place_of(event));
    let programs = around.programs();
    let (deeds, connects) = deeds(tool, &ground, &places, event.detail.unhooked_stdin, programs);
    let Facts { user, groups, .. } = who(event, around);
    let mut facts = Facts { user, groups, ..deeds };
    facts.packages = packages(&facts.commands, programs);
    let named = tool.urls().into_iter().chain(connects.iter().map(String::as_str)).filter_map(url);
    let by_commands = facts.commands.iter().flat_map(|command| urls_of(command, programs));
    facts.urls = named.chain(by_commands).chain(in_arguments(tool)).collect();
    facts.secrets = secrets(event, &facts.contents);
    facts.mcp = McpFact::of(tool, &event.source, around.servers);
    facts.follow(around.seen, &ground, &places.possible);
    facts.directories = places.named;
    facts
}

/// What a call would do to files, and nothing else: as [`facts`] would say it, for less.
pub fn touched(event: &Event, around: &Surroundings<'_>) -> Vec<Touch> {
    let Some(tool) = &event.tool else { return Vec::new() };
    let ground = ground_of(event, around);
    let places = Directories::of(tool, &event.source, &ground, place_of(event));
    let programs = around.programs();
    let (mut facts, _) = deeds(tool, &ground, &places, false, programs);
    facts.follow(around.seen, &ground, &places.possible);
    facts.touched()
}

fn who(event: &Event, around: &Surroundings<'_>) -> Facts {
    let user = around.user.or(event.agent.user.as_deref()).map(str::to_owned);
    let groups = around.groups.iter().map(|group| (*group).to_owned()).collect();
    Facts { user, groups, ..Facts::default() }
}

/// Where the agent works.
fn place_of(event: &Event) -> Option<&str> {
    event.cwd.as_deref().or(event.project.as_deref())
}

fn ground_of(event: &Event, around: &Surroundings<'_>) -> Ground {
    let ground = Ground::new(around.home, event.project.as_deref().or(place_of(event)));
    match around.seen {
        Some(seen) => ground.with_links(seen),
        None => ground,
    }
}

/// The commands, paths, effects and added lines of a call, and where its commands connect to.
/// `terminal` says that text can be typed into what runs without any hook.
fn deeds(
    tool: &ToolCall,
    ground: &Ground,
    places: &Directories,
    terminal: bool,
    programs: &Programs,
) -> (Facts, Vec<String>) {
    let mut unread = Vec::new();
    let (named, left_out) = named_paths(tool, ground, places);
    if !left_out.is_empty() {
        unread.push(Unread::any("too many paths", &left_out.join("\n")));
    }
    let patches: Vec<_> = tool.patches().into_iter().map(read_patch).collect();
    if patches.iter().any(|patch| patch.cut) {
        unread.push(Unread::any("the patch names too many files", ""));
    }
    let patched: Vec<_> = patches.iter().flat_map(|patch| &patch.files).map(|file| file.does).collect();
    let mut effects = by_tool(tool, &named, &patched);
    for file in patches.iter().flat_map(|patch| &patch.files) {
        effects.extend(by_patch(file, &tool.name, ground, places));
    }
    let mut facts = Facts::default();
    let mut connects = Vec::new();
    let mut added: Vec<_> = patches
        .into_iter()
        .flat_map(|patch| patch.files.into_iter().map(|file| file.added).chain([patch.loose]))
        .collect();
    for place in &places.possible {
        let read = tenterhook_shell_facts::read_commands(tool, ground, place.as_deref(), terminal, programs);
        append(&mut facts.commands, read.commands);
        append(&mut effects, read.effects);
        connects.extend(read.connects);
        added.extend(read.contents);
        facts.unparsed |= read.unparsed;
        unread.extend(read.unread);
    }
    if tool.is_edit() && effects.is_empty() && facts.commands.is_empty() {
        unread.push(Unread::any("the file that it changes is not named", &tool.args.to_string()));
    }
    if places.is_unknown() && (!facts.commands.is_empty() || !named.is_empty()) {
        let texts: Vec<_> = tool.commands().iter().map(text_of).collect();
        unread.push(Unread::new("its working directory is unknown", &texts.join("\n"), true, MOST_TEXT));
        facts.unparsed = true;
    }
    facts.unparsed |= unread.iter().any(Unread::is_whole);
    facts.paths = named.into_iter().map(|named| named.path).collect();
    facts.contents = added.into_iter().filter(|added| !added.is_empty()).collect();
    (Facts { effects, unread, ..facts }, connects)
}

/// Adds a list to another. Most calls take place in one directory, and their facts need not move.
fn append<T>(list: &mut Vec<T>, more: Vec<T>) {
    if list.is_empty() {
        *list = more;
    } else {
        list.extend(more);
    }
}

/// The paths that a tool names, seen from every directory that it may work in; and those that are too many.
fn named_paths<'a>(
    tool: &'a ToolCall,
    ground: &Ground,
    places: &Directories,
) -> (Vec<NamedPath>, Vec<&'a str>) {
    let mut texts = tool.paths();
    // They come last.
    let outputs = texts.len().saturating_sub(tool.outputs().len())..texts.len();
    texts.extend(tool.urls().into_iter().filter(|url| url.starts_with("file://")));
    let left_out = texts.split_off(texts.len().min(MOST_PATHS));
    let mut named = Vec::with_capacity(texts.len());
    for (at, text) in texts.into_iter().enumerate() {
        // Tools take `~` for the home directory as a shell does.
        let whole = expand_tilde(text, &ground.home);
        let shape = whole.as_deref().unwrap_or(text);
        let found = Found { text, shape, dynamic: false, pattern: false };
        let output = outputs.contains(&at);
        for path in seen_from(&found, ground, places) {
            named.push(NamedPath { path, output });
        }
    }
    (named, left_out)
}

/// A path, seen from every directory that a call may take place in.
fn seen_from(found: &Found<'_>, ground: &Ground, places: &Directories) -> Vec<PathFact> {
    let mut paths: Vec<PathFact> = Vec::with_capacity(places.possible.len());
    for place in &places.possible {
        let path = ground.fact(found, place.as_deref());
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn text_of(command: &Command<'_>) -> String {
    match command {
        Command::Text(text) => (*text).to_owned(),
        Command::Argv(words) => words.join(" "),
    }
}

/// The kinds of secrets in what a call writes, runs, sends or says; each once.
fn secrets(event: &Event, patched: &[String]) -> Vec<SecretFact> {
    let mut found: Vec<SecretFact> = Vec::new();
    let mut look = |within: &'static str, text: &str| {
        for secret in tenterhook_secrets::secrets(text) {
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
            Command::Text(text) => look("command", text),
            Command::Argv(words) => words.iter().for_each(|word| look("command", word)),
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

/// Addresses anywhere in the arguments of a tool that may go there.
fn in_arguments(tool: &ToolCall) -> Vec<UrlFact> {
    fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
            Value::Object(entries) => entries.values().for_each(|item| texts(item, found)),
            _ => {}
        }
    }
    // Where a tool says which address it is, the others are only mentioned.
    if !matches!(tool.class, ToolClass::Mcp | ToolClass::Fetch) || !tool.urls().is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    texts(&tool.args, &mut found);
    found.into_iter().flat_map(urls_in).collect()
}

/// What a patch does to one of its files, by each of the names that it may have.
fn by_patch(file: &PatchFile, by: &str, ground: &Ground, places: &Directories) -> Vec<Effect> {
    let names = std::iter::once((file.path.as_str(), false));
    let names = names.chain(file.aliases.iter().map(|alias| (alias.path.as_str(), alias.usual)));
    let mut effects = Vec::new();
    for (name, usual) in names {
        let whole = expand_tilde(name, &ground.home);
        let found =
            Found { text: name, shape: whole.as_deref().unwrap_or(name), dynamic: false, pattern: false };
        for path in seen_from(&found, ground, places) {
            // A rule that allows the file allows the names that it has by habit only.
            let path = PathFact { again: usual, ..path };
            effects.push(Effect {
                does: file.does,
                path,
                recursive: false,
                by: by.to_owned(),
                on: Side::Here,
                certainty: Certainty::Certain,
                span: None,
            });
        }
    }
    effects
}
