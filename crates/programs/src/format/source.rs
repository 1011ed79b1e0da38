// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a data file with descriptions of programs.

use tenterhook_document::{Node, Spot, Value, nearest};

use super::keywords::{COMMAND_KEYS, DASHES, INPUTS, LOCATIONS, RUNNERS, STYLES, SYNTAXES, VERBS};
use super::record::{
    ANY_OPERANDS, Arity, DoubleDashRule, FileRunner, Location, OperandSlot, OptionSyntax, PackageVerb,
    SlotCount, SpecStyle, StandardInput,
};
use super::role::{Language, Role};
use super::spelling::OptionSpelling;

/// A mistake in a data file, with its position.
pub(crate) type DescriptionMistake = (Spot, String);

/// An option in a data file.
#[derive(Debug, Clone)]
pub(crate) struct OptionSource {
    /// Position of the description.
    pub spot: Spot,
    /// Names and arity.
    pub spelling: OptionSpelling,
    /// Roles of its values, or the role of the option itself.
    pub roles: Vec<Role>,
    /// Roles of values with a prefix.
    pub prefixes: Vec<(String, Role)>,
    /// Roles of specific values.
    pub words: Vec<(String, Role)>,
    /// Roles together with other options.
    pub cases: Vec<(Vec<String>, Role)>,
    /// Whether the option ends all options.
    pub ends: bool,
    /// Whether the option gives the program instructions. If `None`, the role decides.
    pub tells: Option<bool>,
}

/// An operand grammar in a data file.
#[derive(Debug, Clone)]
pub(crate) struct OperandSource {
    /// Options, one of which must be present.
    pub options: Vec<String>,
    /// Slots in order.
    pub slots: Vec<OperandSlot>,
}

/// An example: a command line and its expected interpretation.
#[derive(Debug, Clone)]
pub struct ExampleSource {
    /// Position of the example.
    pub spot: Spot,
    /// The command line.
    pub line: String,
    /// Expected words, by role or by one of `sub`, `options`, `unknown`, `inner`, `joined`.
    pub expected: Vec<(String, String)>,
}

/// A program or sub-command in a data file.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandSource {
    pub spot: Spot,
    pub names: Vec<String>,
    pub syntax: Option<OptionSyntax>,
    pub stops: bool,
    pub bundle: bool,
    pub dashes: DoubleDashRule,
    pub location: Location,
    pub stdin: StandardInput,
    pub prompt_operands: Option<u8>,
    pub language: Option<Language>,
    pub manager: String,
    pub spec_style: SpecStyle,
    pub package_verb: Option<PackageVerb>,
    pub runner: Option<FileRunner>,
    pub escape: String,
    pub ignores_addresses: bool,
    pub always: Vec<Role>,
    pub operands: Vec<OperandSource>,
    pub options: Vec<OptionSource>,
    pub everywhere: Vec<OptionSource>,
    pub bsd: Vec<OptionSource>,
    pub commands: Vec<CommandSource>,
    pub examples: Vec<ExampleSource>,
    /// Position of `replaces: true` in a user file.
    pub replaces: Option<Spot>,
}

// === impl CommandSource ===

impl CommandSource {
    /// Returns the examples of the command and of its sub-commands.
    pub(crate) fn all_examples(&self) -> Vec<&ExampleSource> {
        let inner = self.commands.iter().flat_map(Self::all_examples);
        self.examples.iter().chain(inner).collect()
    }

    /// Copies the description for another name, without examples.
    fn without_examples(&self) -> Self {
        let commands = self.commands.iter().map(Self::without_examples).collect();
        Self { examples: Vec::new(), commands, ..self.clone() }
    }
}

// === impl OptionSource ===

impl OptionSource {
    fn new(spot: Spot, spelling: OptionSpelling) -> Self {
        Self {
            spot,
            spelling,
            roles: Vec::new(),
            prefixes: Vec::new(),
            words: Vec::new(),
            cases: Vec::new(),
            ends: false,
            tells: None,
        }
    }

    /// Returns every role that the option or its values can have.
    pub(crate) fn all_roles(&self) -> impl Iterator<Item = Role> {
        let prefixes = self.prefixes.iter().chain(&self.words).map(|(_, role)| *role);
        let cases = self.cases.iter().map(|(_, role)| *role);
        self.roles.iter().copied().chain(prefixes).chain(cases)
    }
}

/// Maximum nesting depth of sub-commands. Deeper files are rejected.
const MAX_COMMAND_DEPTH: usize = 8;

/// Reads all programs in a file. Keys that start with `x-` contain parts that descriptions share through YAML merge
/// keys.
pub(crate) fn read_file(root: &Node) -> (Vec<CommandSource>, Vec<DescriptionMistake>) {
    let mut mistakes = Vec::new();
    let Value::Map(entries) = &root.value else {
        return (Vec::new(), vec![(root.spot, "expected programs with their descriptions".to_owned())]);
    };
    let mut programs = Vec::new();
    for (key, value) in entries {
        if key_text(key).starts_with("x-") {
            continue;
        }
        programs.extend(DescriptionReader { mistakes: &mut mistakes }.read_commands_alike(key, value, 0));
    }
    (programs, mistakes)
}

fn key_text(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        Value::Whole(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        _ => String::new(),
    }
}

struct DescriptionReader<'a> {
    mistakes: &'a mut Vec<DescriptionMistake>,
}

impl DescriptionReader<'_> {
    fn push_mistake(&mut self, node: &Node, message: impl Into<String>) {
        self.mistakes.push((node.spot, message.into()));
    }

    /// Reads commands with the same description: `start | stop` are two commands, `remove, rm` is one with two names.
    fn read_commands_alike(&mut self, key: &Node, node: &Node, depth: usize) -> Vec<CommandSource> {
        let keys = key_text(key);
        let mut each = keys.split('|').map(split_words);
        let first = each.next().unwrap_or_default();
        let Some(first) = self.read_command(key, first, node, depth) else { return Vec::new() };
        let others: Vec<_> = each.map(|names| CommandSource { names, ..first.without_examples() }).collect();
        if others.iter().any(|command| command.names.is_empty()) {
            self.push_mistake(key, "name expected on both sides of `|`");
        }
        std::iter::once(first).chain(others).collect()
    }

    fn read_command(
        &mut self,
        key: &Node,
        names: Vec<String>,
        node: &Node,
        depth: usize,
    ) -> Option<CommandSource> {
        let mut command = CommandSource { spot: key.spot, names, ..CommandSource::default() };
        if command.names.is_empty() {
            self.push_mistake(key, "name of a program or sub-command expected");
            return None;
        }
        if depth > MAX_COMMAND_DEPTH {
            self.push_mistake(key, "sub-commands are nested too deeply");
            return None;
        }
        let entries = match &node.value {
            Value::Map(entries) => entries.as_slice(),
            Value::Null => &[],
            // `git stash drop: text` is short for `operands`.
            Value::Text(_) => {
                command.operands = self.read_operands(node);
                &[]
            }
            _ => {
                self.push_mistake(node, "expected the description of a command");
                return None;
            }
        };
        for (key, value) in entries {
            self.read_entry(&mut command, key, value, depth);
        }
        Some(command)
    }

    fn read_entry(&mut self, command: &mut CommandSource, key: &Node, value: &Node, depth: usize) {
        match key_text(key).as_str() {
            "about" => {}
            "syntax" => command.syntax = self.read_keyword(value, SYNTAXES),
            "stops" => command.stops = self.read_flag(value).unwrap_or_default(),
            "bundle" => command.bundle = self.read_flag(value).unwrap_or_default(),
            "dashes" => command.dashes = self.read_keyword(value, DASHES).unwrap_or_default(),
            "location" => command.location = self.read_keyword(value, LOCATIONS).unwrap_or_default(),
            "stdin" => command.stdin = self.read_keyword(value, INPUTS).unwrap_or_default(),
            "prompt-operands" if key_text(value) == "any" => command.prompt_operands = Some(ANY_OPERANDS),
            "prompt-operands" => command.prompt_operands = self.read_number(value),
            "language" => command.language = self.read_language(value),
            "manager" => command.manager = self.read_text(value),
            "spec-style" => command.spec_style = self.read_keyword(value, STYLES).unwrap_or_default(),
            "packages" => command.package_verb = self.read_keyword(value, VERBS),
            "task-file" => command.runner = self.read_keyword(value, RUNNERS),
            "escape" => command.escape = self.read_text(value),
            "ignores-addresses" => command.ignores_addresses = self.read_flag(value).unwrap_or_default(),
            "always" => {
                let names = split_words(&key_text(value));
                command.always = names.iter().filter_map(|name| self.read_role(value, name)).collect();
            }
            "operands" => command.operands = self.read_operands(value),
            "flags" => command.options.extend(self.read_names(value, Arity::None)),
            "values" => command.options.extend(self.read_names(value, Arity::Required(1))),
            "options" => command.options.extend(self.read_options(value)),
            "everywhere" => command.everywhere = self.read_options(value),
            "bsd" => command.bsd = self.read_options(value),
            "commands" => command.commands = self.read_commands(value, depth),
            "examples" => command.examples = self.read_examples(value),
            "replaces" if depth > 0 => self.push_mistake(key, "`replaces` is for a whole program"),
            "replaces" => command.replaces = self.read_flag(value).filter(|set| *set).map(|_| key.spot),
            other => {
                let near = nearest(other, COMMAND_KEYS.iter().copied());
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                self.push_mistake(key, format!("unknown key `{other}`{hint}"));
            }
        }
    }

    fn read_commands(&mut self, node: &Node, depth: usize) -> Vec<CommandSource> {
        let Value::Map(entries) = &node.value else {
            self.push_mistake(node, "expected sub-commands with their descriptions");
            return Vec::new();
        };
        entries.iter().flat_map(|(key, value)| self.read_commands_alike(key, value, depth + 1)).collect()
    }

    fn read_keyword<T: Copy>(&mut self, node: &Node, known: &[(&str, T)]) -> Option<T> {
        let text = key_text(node);
        let found = known.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        if found.is_none() {
            let names: Vec<_> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
            self.push_mistake(node, format!("unknown word `{text}`; known: {}", names.join(", ")));
        }
        found
    }

    fn read_language(&mut self, node: &Node) -> Option<Language> {
        let text = key_text(node);
        let found = Language::from_name(&text);
        if found.is_none() {
            self.push_mistake(node, format!("unknown language `{text}`"));
        }
        found
    }

    fn read_flag(&mut self, node: &Node) -> Option<bool> {
        if let Value::Bool(value) = node.value {
            return Some(value);
        }
        self.push_mistake(node, "expected `true` or `false`");
        None
    }

    fn read_number(&mut self, node: &Node) -> Option<u8> {
        let number = match node.value {
            Value::Whole(number) => u8::try_from(number).ok(),
            _ => None,
        };
        if number.is_none() {
            self.push_mistake(node, "expected a number from 0 to 255");
        }
        number
    }

    fn read_text(&mut self, node: &Node) -> String {
        let text = key_text(node);
        if text.is_empty() {
            self.push_mistake(node, "expected a text");
        }
        text
    }

    /// Reads `-f --force, -v`: names of one option are separated by spaces, options by commas.
    fn read_names(&mut self, node: &Node, arity: Arity) -> Vec<OptionSource> {
        let text = self.read_text(node);
        let each = text.split([',', '\n']).map(str::trim).filter(|names| !names.is_empty());
        let mut options = Vec::new();
        for names in each {
            match OptionSpelling::parse_name(names, arity) {
                Ok(spelling) => options
                    .push(OptionSource { roles: vec![Role::Text], ..OptionSource::new(node.spot, spelling) }),
                Err(error) => self.push_mistake(node, error.to_string()),
            }
        }
        options
    }

    fn read_options(&mut self, node: &Node) -> Vec<OptionSource> {
        let Value::Map(entries) = &node.value else {
            self.push_mistake(node, "expected options with their roles");
            return Vec::new();
        };
        let mut options = Vec::new();
        for (key, value) in entries {
            match key_text(key).as_str() {
                "flags" => options.extend(self.read_names(value, Arity::None)),
                "values" => options.extend(self.read_names(value, Arity::Required(1))),
                text => match OptionSpelling::parse(text) {
                    Ok(spelling) => options.push(self.read_option(key.spot, spelling, value)),
                    Err(error) => self.push_mistake(key, error.to_string()),
                },
            }
        }
        options
    }

    fn read_option(&mut self, spot: Spot, spelling: OptionSpelling, node: &Node) -> OptionSource {
        let mut option = OptionSource::new(spot, spelling);
        match &node.value {
            Value::Null => {}
            Value::Text(_) => option.roles = self.read_roles(node),
            Value::Map(entries) => {
                for (key, value) in entries {
                    match key_text(key).as_str() {
                        "role" => option.roles = self.read_roles(value),
                        "ends" => option.ends = self.read_flag(value).unwrap_or_default(),
                        "tells" => option.tells = self.read_flag(value),
                        "prefixes" => option.prefixes = self.read_pairs(value),
                        "words" => {
                            let pairs = self.read_pairs(value).into_iter();
                            let each = pairs.flat_map(|(words, role)| {
                                split_words(&words).into_iter().map(move |word| (word, role))
                            });
                            option.words = each.collect();
                        }
                        "beside" => {
                            let pairs = self.read_pairs(value);
                            option.cases =
                                pairs.into_iter().map(|(names, role)| (split_words(&names), role)).collect();
                        }
                        other => self.push_mistake(key, format!("unknown key `{other}`")),
                    }
                }
            }
            _ => self.push_mistake(node, "expected a role"),
        }
        if option.roles.is_empty() {
            option.roles.push(Role::Text);
        }
        option
    }

    fn read_roles(&mut self, node: &Node) -> Vec<Role> {
        let text = key_text(node);
        text.split_whitespace().filter_map(|name| self.read_role(node, name)).collect()
    }

    fn read_role(&mut self, node: &Node, name: &str) -> Option<Role> {
        let role = Role::from_name(name);
        if role.is_none() {
            let near = nearest(name, Role::names());
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            self.push_mistake(node, format!("unknown role `{name}`{hint}"));
        }
        role
    }

    fn read_pairs(&mut self, node: &Node) -> Vec<(String, Role)> {
        let Value::Map(entries) = &node.value else {
            self.push_mistake(node, "expected names with roles");
            return Vec::new();
        };
        entries
            .iter()
            .filter_map(|(key, value)| {
                let role = self.read_role(value, &key_text(value))?;
                Some((key_text(key), role))
            })
            .collect()
    }

    /// Reads `pattern read...`, or a map from options to such grammars.
    fn read_operands(&mut self, node: &Node) -> Vec<OperandSource> {
        match &node.value {
            Value::Text(text) => {
                vec![OperandSource { options: Vec::new(), slots: self.read_slots(node, text) }]
            }
            Value::Map(entries) => {
                let mut cases = Vec::new();
                for (key, value) in entries {
                    let names = key_text(key);
                    let options = if names == "else" { Vec::new() } else { split_words(&names) };
                    let slots = self.read_slots(value, &key_text(value));
                    cases.push(OperandSource { options, slots });
                }
                cases
            }
            Value::Null => Vec::new(),
            _ => {
                self.push_mistake(node, "expected roles of the operands in order");
                Vec::new()
            }
        }
    }

    fn read_slots(&mut self, node: &Node, text: &str) -> Vec<OperandSlot> {
        let mut slots: Vec<OperandSlot> = Vec::new();
        for token in text.split_whitespace() {
            let (name, count) = match (token.strip_suffix("..."), token.strip_suffix('?')) {
                (Some(name), _) => (name, SlotCount::Many),
                (None, Some(name)) => (name, SlotCount::Optional),
                (None, None) => (token, SlotCount::One),
            };
            let inner = matches!(name, "command" | "shell") && count == SlotCount::Many;
            // Each operand is a separate string.
            let name = if name == "shell-lines" { "shell" } else { name };
            if slots.iter().any(|slot| slot.inner) {
                self.push_mistake(node, "nothing can follow a command");
            }
            let Some(role) = self.read_role(node, name) else { continue };
            let spread = |slot: &OperandSlot| slot.count == SlotCount::Many && slot.role != Role::Assignment;
            if spread(&OperandSlot { role, count, inner }) && slots.iter().any(spread) {
                self.push_mistake(node, "only one position can take any number of operands");
            }
            slots.push(OperandSlot { role, count, inner });
        }
        slots
    }

    fn read_examples(&mut self, node: &Node) -> Vec<ExampleSource> {
        let Value::Map(entries) = &node.value else {
            self.push_mistake(node, "expected command lines with what is read in them");
            return Vec::new();
        };
        let mut examples = Vec::new();
        for (key, value) in entries {
            let Value::Map(words) = &value.value else {
                self.push_mistake(value, "expected roles with their words");
                continue;
            };
            let expected = words.iter().map(|(key, value)| (key_text(key), key_text(value))).collect();
            examples.push(ExampleSource { spot: key.spot, line: key_text(key), expected });
        }
        examples
    }
}

fn split_words(text: &str) -> Vec<String> {
    text.split([',', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
