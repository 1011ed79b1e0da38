// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a data file: names of programs, each with its description.

use tenterhook_document::{Node, Spot, Value, nearest};

use super::record::{
    ANY_OPERANDS, Arity, Count, Dashes, Location, PackageVerb, Slot, SpecStyle, StandardInput, Syntax,
};
use super::role::{Language, Role};
use super::spelling::Spelling;
use super::words::{COMMAND_KEYS, DASHES, INPUTS, LOCATIONS, STYLES, SYNTAXES, VERBS};

/// A mistake in a data file and its place.
pub(crate) type Mistake = (Spot, String);

/// One option as described.
#[derive(Debug, Clone)]
pub(crate) struct OptionSource {
    /// Place of the description.
    pub spot: Spot,
    /// Names and arity.
    pub spelling: Spelling,
    /// Roles of its values, or the role of the option itself.
    pub roles: Vec<Role>,
    /// Roles of values with a prefix.
    pub prefixes: Vec<(String, Role)>,
    /// Roles of values of exactly one text.
    pub words: Vec<(String, Role)>,
    /// Roles beside other options.
    pub cases: Vec<(Vec<String>, Role)>,
    /// Whether no options follow.
    pub ends: bool,
    /// Whether the option tells the program what to do; by default its role says so.
    pub tells: Option<bool>,
}

/// An operand grammar as described.
#[derive(Debug, Clone)]
pub(crate) struct OperandSource {
    /// Options of which one must be given.
    pub options: Vec<String>,
    /// The positions in order.
    pub slots: Vec<Slot>,
}

/// An example: a command line and what must be read in it.
#[derive(Debug, Clone)]
pub struct ExampleSource {
    /// Place of the example.
    pub spot: Spot,
    /// The command line.
    pub line: String,
    /// What is expected: a role or one of `sub`, `options`, `unknown`, `inner`, `joined`, and words.
    pub expected: Vec<(String, String)>,
}

/// A program or sub-command as described.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandSource {
    pub spot: Spot,
    pub names: Vec<String>,
    pub syntax: Option<Syntax>,
    pub stops: bool,
    pub bundle: bool,
    pub dashes: Dashes,
    pub location: Location,
    pub stdin: StandardInput,
    pub prompt_operands: Option<u8>,
    pub language: Option<Language>,
    pub manager: String,
    pub spec_style: SpecStyle,
    pub package_verb: Option<PackageVerb>,
    pub escape: String,
    pub ignores_addresses: bool,
    pub always: Vec<Role>,
    pub operands: Vec<OperandSource>,
    pub options: Vec<OptionSource>,
    pub everywhere: Vec<OptionSource>,
    pub bsd: Vec<OptionSource>,
    pub commands: Vec<CommandSource>,
    pub examples: Vec<ExampleSource>,
    /// Where a file of the user says that the description replaces what is known of the program.
    pub replaces: Option<Spot>,
}

// === impl CommandSource ===

impl CommandSource {
    /// The examples of the command and of its sub-commands.
    pub(crate) fn all_examples(&self) -> Vec<&ExampleSource> {
        let inner = self.commands.iter().flat_map(Self::all_examples);
        self.examples.iter().chain(inner).collect()
    }

    /// The same description under another name: the examples are about the first.
    fn without_examples(&self) -> Self {
        let commands = self.commands.iter().map(Self::without_examples).collect();
        Self { examples: Vec::new(), commands, ..self.clone() }
    }
}

// === impl OptionSource ===

impl OptionSource {
    fn new(spot: Spot, spelling: Spelling) -> Self {
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

    /// Every role that the option or its values can have.
    pub(crate) fn all_roles(&self) -> impl Iterator<Item = Role> {
        let prefixes = self.prefixes.iter().chain(&self.words).map(|(_, role)| *role);
        let cases = self.cases.iter().map(|(_, role)| *role);
        self.roles.iter().copied().chain(prefixes).chain(cases)
    }
}

/// Deeper sub-commands than any program has; a file that nests further is refused.
const MAX_COMMAND_DEPTH: usize = 8;

/// Reads every program in a file. Keys that start with `x-` hold parts that others merge.
pub(crate) fn read_file(root: &Node) -> (Vec<CommandSource>, Vec<Mistake>) {
    let mut mistakes = Vec::new();
    let Value::Map(entries) = &root.value else {
        return (Vec::new(), vec![(root.spot, "expected programs with their descriptions".to_owned())]);
    };
    let mut programs = Vec::new();
    for (key, value) in entries {
        if key_text(key).starts_with("x-") {
            continue;
        }
        programs.extend(Reader { mistakes: &mut mistakes }.alike(key, value, 0));
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

struct Reader<'a> {
    mistakes: &'a mut Vec<Mistake>,
}

impl Reader<'_> {
    fn wrong(&mut self, node: &Node, message: impl Into<String>) {
        self.mistakes.push((node.spot, message.into()));
    }

    /// `start | stop` are two commands with the same description; `remove, rm` is one with two names.
    fn alike(&mut self, key: &Node, node: &Node, depth: usize) -> Vec<CommandSource> {
        let keys = key_text(key);
        let mut each = keys.split('|').map(split_words);
        let first = each.next().unwrap_or_default();
        let Some(first) = self.command(key, first, node, depth) else { return Vec::new() };
        let others: Vec<_> = each.map(|names| CommandSource { names, ..first.without_examples() }).collect();
        if others.iter().any(|command| command.names.is_empty()) {
            self.wrong(key, "name expected on both sides of `|`");
        }
        std::iter::once(first).chain(others).collect()
    }

    fn command(
        &mut self,
        key: &Node,
        names: Vec<String>,
        node: &Node,
        depth: usize,
    ) -> Option<CommandSource> {
        let mut command = CommandSource { spot: key.spot, names, ..CommandSource::default() };
        if command.names.is_empty() {
            self.wrong(key, "name of a program or sub-command expected");
            return None;
        }
        if depth > MAX_COMMAND_DEPTH {
            self.wrong(key, "sub-commands are nested too deeply");
            return None;
        }
        let entries = match &node.value {
            Value::Map(entries) => entries.as_slice(),
            Value::Null => &[],
            // `git stash drop: text` is short for its operands.
            Value::Text(_) => {
                command.operands = self.operands(node);
                &[]
            }
            _ => {
                self.wrong(node, "expected the description of a command");
                return None;
            }
        };
        for (key, value) in entries {
            self.entry(&mut command, key, value, depth);
        }
        Some(command)
    }

    fn entry(&mut self, command: &mut CommandSource, key: &Node, value: &Node, depth: usize) {
        match key_text(key).as_str() {
            "about" => {}
            "syntax" => command.syntax = self.word(value, SYNTAXES),
            "stops" => command.stops = self.flag(value).unwrap_or_default(),
            "bundle" => command.bundle = self.flag(value).unwrap_or_default(),
            "dashes" => command.dashes = self.word(value, DASHES).unwrap_or_default(),
            "location" => command.location = self.word(value, LOCATIONS).unwrap_or_default(),
            "stdin" => command.stdin = self.word(value, INPUTS).unwrap_or_default(),
            "prompt-operands" if key_text(value) == "any" => command.prompt_operands = Some(ANY_OPERANDS),
            "prompt-operands" => command.prompt_operands = self.number(value),
            "language" => command.language = self.language(value),
            "manager" => command.manager = self.text(value),
            "spec-style" => command.spec_style = self.word(value, STYLES).unwrap_or_default(),
            "packages" => command.package_verb = self.word(value, VERBS),
            "escape" => command.escape = self.text(value),
            "ignores-addresses" => command.ignores_addresses = self.flag(value).unwrap_or_default(),
            "always" => {
                let names = split_words(&key_text(value));
                command.always = names.iter().filter_map(|name| self.role(value, name)).collect();
            }
            "operands" => command.operands = self.operands(value),
            "flags" => command.options.extend(self.names(value, Arity::None)),
            "values" => command.options.extend(self.names(value, Arity::Required(1))),
            "options" => command.options.extend(self.options(value)),
            "everywhere" => command.everywhere = self.options(value),
            "bsd" => command.bsd = self.options(value),
            "commands" => command.commands = self.commands(value, depth),
            "examples" => command.examples = self.examples(value),
            "replaces" if depth > 0 => self.wrong(key, "`replaces` is for a whole program"),
            "replaces" => command.replaces = self.flag(value).filter(|set| *set).map(|_| key.spot),
            other => {
                let near = nearest(other, COMMAND_KEYS.iter().copied());
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                self.wrong(key, format!("unknown key `{other}`{hint}"));
            }
        }
    }

    fn commands(&mut self, node: &Node, depth: usize) -> Vec<CommandSource> {
        let Value::Map(entries) = &node.value else {
            self.wrong(node, "expected sub-commands with their descriptions");
            return Vec::new();
        };
        entries.iter().flat_map(|(key, value)| self.alike(key, value, depth + 1)).collect()
    }

    fn word<T: Copy>(&mut self, node: &Node, known: &[(&str, T)]) -> Option<T> {
        let text = key_text(node);
        let found = known.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        if found.is_none() {
            let names: Vec<_> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
            self.wrong(node, format!("unknown word `{text}`; known: {}", names.join(", ")));
        }
        found
    }

    fn language(&mut self, node: &Node) -> Option<Language> {
        let text = key_text(node);
        let found = Language::from_name(&text);
        if found.is_none() {
            self.wrong(node, format!("unknown language `{text}`"));
        }
        found
    }

    fn flag(&mut self, node: &Node) -> Option<bool> {
        if let Value::Bool(value) = node.value {
            return Some(value);
        }
        self.wrong(node, "expected `true` or `false`");
        None
    }

    fn number(&mut self, node: &Node) -> Option<u8> {
        let number = match node.value {
            Value::Whole(number) => u8::try_from(number).ok(),
            _ => None,
        };
        if number.is_none() {
            self.wrong(node, "expected a number from 0 to 255");
        }
        number
    }

    fn text(&mut self, node: &Node) -> String {
        let text = key_text(node);
        if text.is_empty() {
            self.wrong(node, "expected a text");
        }
        text
    }

    /// `-f --force, -v`: names of one option are separated by spaces, options by commas.
    fn names(&mut self, node: &Node, arity: Arity) -> Vec<OptionSource> {
        let text = self.text(node);
        let each = text.split([',', '\n']).map(str::trim).filter(|names| !names.is_empty());
        let mut options = Vec::new();
        for names in each {
            match Spelling::parse_name(names, arity) {
                Ok(spelling) => options
                    .push(OptionSource { roles: vec![Role::Text], ..OptionSource::new(node.spot, spelling) }),
                Err(error) => self.wrong(node, error.to_string()),
            }
        }
        options
    }

    fn options(&mut self, node: &Node) -> Vec<OptionSource> {
        let Value::Map(entries) = &node.value else {
            self.wrong(node, "expected options with their roles");
            return Vec::new();
        };
        let mut options = Vec::new();
        for (key, value) in entries {
            match key_text(key).as_str() {
                "flags" => options.extend(self.names(value, Arity::None)),
                "values" => options.extend(self.names(value, Arity::Required(1))),
                text => match Spelling::parse(text) {
                    Ok(spelling) => options.push(self.option(key.spot, spelling, value)),
                    Err(error) => self.wrong(key, error.to_string()),
                },
            }
        }
        options
    }

    fn option(&mut self, spot: Spot, spelling: Spelling, node: &Node) -> OptionSource {
        let mut option = OptionSource::new(spot, spelling);
        match &node.value {
            Value::Null => {}
            Value::Text(_) => option.roles = self.roles(node),
            Value::Map(entries) => {
                for (key, value) in entries {
                    match key_text(key).as_str() {
                        "role" => option.roles = self.roles(value),
                        "ends" => option.ends = self.flag(value).unwrap_or_default(),
                        "tells" => option.tells = self.flag(value),
                        "prefixes" => option.prefixes = self.pairs(value),
                        "words" => {
                            let pairs = self.pairs(value).into_iter();
                            let each = pairs.flat_map(|(words, role)| {
                                split_words(&words).into_iter().map(move |word| (word, role))
                            });
                            option.words = each.collect();
                        }
                        "beside" => {
                            let pairs = self.pairs(value);
                            option.cases =
                                pairs.into_iter().map(|(names, role)| (split_words(&names), role)).collect();
                        }
                        other => self.wrong(key, format!("unknown key `{other}`")),
                    }
                }
            }
            _ => self.wrong(node, "expected a role"),
        }
        if option.roles.is_empty() {
            option.roles.push(Role::Text);
        }
        option
    }

    fn roles(&mut self, node: &Node) -> Vec<Role> {
        let text = key_text(node);
        text.split_whitespace().filter_map(|name| self.role(node, name)).collect()
    }

    fn role(&mut self, node: &Node, name: &str) -> Option<Role> {
        let role = Role::from_name(name);
        if role.is_none() {
            let near = nearest(name, Role::names());
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            self.wrong(node, format!("unknown role `{name}`{hint}"));
        }
        role
    }

    fn pairs(&mut self, node: &Node) -> Vec<(String, Role)> {
        let Value::Map(entries) = &node.value else {
            self.wrong(node, "expected names with roles");
            return Vec::new();
        };
        entries
            .iter()
            .filter_map(|(key, value)| {
                let role = self.role(value, &key_text(value))?;
                Some((key_text(key), role))
            })
            .collect()
    }

    /// `pattern read...`, or a list of such grammars with the options they depend on.
    fn operands(&mut self, node: &Node) -> Vec<OperandSource> {
        match &node.value {
            Value::Text(text) => {
                vec![OperandSource { options: Vec::new(), slots: self.slots(node, text) }]
            }
            Value::Map(entries) => {
                let mut cases = Vec::new();
                for (key, value) in entries {
                    let names = key_text(key);
                    let options = if names == "else" { Vec::new() } else { split_words(&names) };
                    let slots = self.slots(value, &key_text(value));
                    cases.push(OperandSource { options, slots });
                }
                cases
            }
            Value::Null => Vec::new(),
            _ => {
                self.wrong(node, "expected roles of the operands in order");
                Vec::new()
            }
        }
    }

    fn slots(&mut self, node: &Node, text: &str) -> Vec<Slot> {
        let mut slots: Vec<Slot> = Vec::new();
        for token in text.split_whitespace() {
            let (name, count) = match (token.strip_suffix("..."), token.strip_suffix('?')) {
                (Some(name), _) => (name, Count::Many),
                (None, Some(name)) => (name, Count::Optional),
                (None, None) => (token, Count::One),
            };
            let inner = matches!(name, "command" | "shell") && count == Count::Many;
            // Each operand is a text of its own.
            let name = if name == "shell-lines" { "shell" } else { name };
            if slots.iter().any(|slot| slot.inner) {
                self.wrong(node, "nothing can follow a command");
            }
            let Some(role) = self.role(node, name) else { continue };
            let spread = |slot: &Slot| slot.count == Count::Many && slot.role != Role::Assignment;
            if spread(&Slot { role, count, inner }) && slots.iter().any(spread) {
                self.wrong(node, "only one position can take any number of operands");
            }
            slots.push(Slot { role, count, inner });
        }
        slots
    }

    fn examples(&mut self, node: &Node) -> Vec<ExampleSource> {
        let Value::Map(entries) = &node.value else {
            self.wrong(node, "expected command lines with what is read in them");
            return Vec::new();
        };
        let mut examples = Vec::new();
        for (key, value) in entries {
            let Value::Map(words) = &value.value else {
                self.wrong(value, "expected roles with their words");
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
