// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Analyses the commands of a PowerShell script: functions, cmdlets and programs.

use std::sync::Arc;

use tenterhook_paths::FileOp;
use tenterhook_powershell::{
    CommandElement, InvocationKind, PowerShellCommand, PowerShellScript, find_cmdlet, fold_command_name,
    is_program_name,
};

use super::super::super::described_command::DescribedCommand;
use super::super::super::effect::ExecLocation;
use super::super::ShellReader;
use super::super::command::path_fact;
use super::super::exec_site::ExecSite;
use super::super::interpret::is_powershell_file;
use super::super::invoke::Redirections;
use super::super::narrow::narrow_words;
use super::super::scope::ShellScope;
use super::super::word::ShellWord;
use super::cmdlet_output::cmdlet_output;
use super::known_values::{home_directory, provider_path};
use super::members::restore_variable;
use super::value::{PowerShellScope, PowerShellValue};

/// Maximum depth of functions that call each other.
const MAX_CALLS: usize = 8;

/// Parameters whose values are the first operands of a cmdlet.
const PATH_PARAMETERS: &[&str] = &["path", "literalpath", "filepath"];

/// Where the value of a parameter goes among the words of a cmdlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OperandOrder {
    First,
    Last,
    /// After its parameter.
    Option,
}

/// A part of a command after its name, with its value.
#[derive(Debug, Clone)]
pub(super) enum CmdletArgument {
    /// A parameter with its dash, as written.
    Parameter(String),
    /// The value of a parameter, or a positional argument.
    Value(PowerShellValue),
}

/// The arguments of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct CmdletArguments(Vec<CmdletArgument>);

impl CmdletArguments {
    pub(super) fn push_switch(&mut self, name: &str) {
        self.0.push(CmdletArgument::Parameter(name.to_owned()));
    }

    pub(super) fn push_value(&mut self, name: &str, value: &PowerShellValue) {
        self.push_switch(name);
        self.0.push(CmdletArgument::Value(value.clone()));
    }

    /// Returns the value of a parameter that is one of these names (lower case, no dash) or an abbreviation of it.
    pub(super) fn named(&self, names: &[&str]) -> Option<&PowerShellValue> {
        let mut rest = self.0.iter();
        while let Some(argument) = rest.next() {
            if let CmdletArgument::Parameter(name) = argument
                && let name = name.trim_start_matches('-').to_lowercase()
                && !name.is_empty()
                && names.iter().any(|known| known.starts_with(&name))
            {
                return match rest.as_slice().first() {
                    Some(CmdletArgument::Value(value)) => Some(value),
                    _ => None,
                };
            }
        }
        None
    }

    /// Whether the parameter with this name is given, possibly abbreviated.
    pub(super) fn has(&self, known: &str) -> bool {
        self.0.iter().any(|argument| match argument {
            CmdletArgument::Parameter(name) => {
                let name = name.trim_start_matches('-').to_lowercase();
                !name.is_empty() && known.starts_with(&name)
            }
            CmdletArgument::Value(_) => false,
        })
    }

    /// Returns the values without a parameter before them. A parameter in `switches` takes no value.
    pub(super) fn positional(&self, switches: &[&str]) -> Vec<&PowerShellValue> {
        let mut values = Vec::new();
        let mut after_parameter = false;
        for argument in &self.0 {
            match argument {
                CmdletArgument::Parameter(name) => {
                    let name = name.trim_start_matches('-').to_lowercase();
                    after_parameter = !switches.iter().any(|known| known.starts_with(&name));
                }
                CmdletArgument::Value(value) => {
                    if !after_parameter {
                        values.push(value);
                    }
                    after_parameter = false;
                }
            }
        }
        values
    }

    fn blocks(&self) -> Vec<Arc<PowerShellScript>> {
        let values = self.0.iter().filter_map(|argument| match argument {
            CmdletArgument::Value(value) => value.block.clone(),
            CmdletArgument::Parameter(_) => None,
        });
        values.collect()
    }
}

impl ShellReader<'_> {
    /// Analyses a command of a pipeline; returns its output.
    pub(super) fn run_powershell_command(
        &mut self,
        command: &PowerShellCommand,
        flow: &PowerShellValue,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let name = self.evaluate_powershell(&command.name, ps, scope);
        let mut arguments = CmdletArguments::default();
        let mut io = Redirections::default();
        for element in &command.elements {
            match element {
                CommandElement::Parameter(name, value) => {
                    let value = value.as_ref().map(|value| self.evaluate_powershell(value, ps, scope));
                    match value {
                        Some(value) if value.known_text() == Some("False") => {}
                        Some(value) if value.known_text() == Some("True") => arguments.push_switch(name),
                        Some(value) => arguments.push_value(name, &value),
                        None => arguments.push_switch(name),
                    }
                }
                CommandElement::Argument(argument) => {
                    let is_splat = matches!(argument, tenterhook_powershell::PowerShellExpression::Splat(_));
                    let value = self.evaluate_powershell(argument, ps, scope);
                    if is_splat && !value.entries.is_empty() {
                        for (key, value) in &value.entries {
                            match value.known_text() {
                                Some("False") => {}
                                Some("True") => arguments.push_switch(&format!("-{key}")),
                                _ => arguments.push_value(&format!("-{key}"), value),
                            }
                        }
                    } else {
                        arguments.0.push(CmdletArgument::Value(value));
                    }
                }
                CommandElement::Redirect { appends, target } => {
                    let target = self.evaluate_powershell(target, ps, scope);
                    self.open_powershell_redirect(*appends, &target, &mut io, scope);
                }
            }
        }
        self.enter_span_at(command.start, command.end);
        if let Some(block) = &name.block {
            return self.walk_powershell(&Arc::clone(block), ps, scope);
        }
        let Some(first) = name.items.first() else { return PowerShellValue::default() };
        self.run_named(first, command.invocation, &arguments, flow, &io, ps, scope)
    }

    /// Adds the effects of redirecting output to a file.
    pub(super) fn open_powershell_redirect(
        &mut self,
        appends: bool,
        target: &PowerShellValue,
        io: &mut Redirections,
        scope: &ShellScope,
    ) {
        for item in target.items.iter().filter(|item| !item.text.is_empty()) {
            let word = to_path_word(item, scope);
            if matches!(word.text.to_lowercase().as_str(), "nul" | "/dev/null") {
                continue;
            }
            let path = path_fact(&word, &scope.site.roots, scope.cwd.expected());
            io.touched.push((if appends { FileOp::Append } else { FileOp::Write }, path.clone()));
            io.outputs.push(path);
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a command has a name, arguments, input, files and two scopes"
    )]
    fn run_named(
        &mut self,
        first: &ShellWord,
        invocation: InvocationKind,
        arguments: &CmdletArguments,
        flow: &PowerShellValue,
        io: &Redirections,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        if first.dynamic {
            return self.run_program(first.clone(), arguments, io, ps, scope);
        }
        let folded = fold_command_name(&first.text);
        let has_directory =
            first.text.contains(['/', '\\']) && !first.text.to_lowercase().starts_with("microsoft.");
        if !has_directory {
            if let Some(body) = ps.functions.get(&folded).cloned() {
                return self.call_powershell_function(&body, arguments, flow, ps, scope);
            }
            // `sc.exe` is a program, `sc` a short name.
            if first.text.contains('.') {
                return self.run_program(ShellWord::literal(&folded), arguments, io, ps, scope);
            }
            let items: Vec<ShellWord> =
                arguments.positional(&[]).into_iter().flat_map(|value| value.items.clone()).collect();
            if self.run_as_cmd(&folded, &items, scope) {
                return PowerShellValue::default();
            }
            let renamed = ps.aliases.get(&folded).cloned();
            let folded = renamed.unwrap_or(folded);
            let cmdlet = find_cmdlet(&folded)
                .filter(|cmdlet| !is_program_name(&folded) || self.takes_all_parameters(cmdlet, arguments));
            let cmdlet = cmdlet.map_or_else(|| folded.clone(), str::to_owned);
            if cmdlet.contains('-') && !first.text.contains('.')
                || find_cmdlet(&folded) == Some(cmdlet.as_str())
            {
                return self.run_cmdlet_with(&cmdlet, arguments, flow, io, ps, scope);
            }
            let program = ShellWord::literal(&folded);
            return self.run_program(program, arguments, io, ps, scope);
        }
        let mut program = to_path_word(first, scope);
        program.text.clone_from(&program.shape);
        // `npm.cmd` is `npm`. A program keeps its path, so that a file that the call has written is recognised.
        if first.text.to_lowercase().ends_with(".cmd") || first.text.to_lowercase().ends_with(".bat") {
            let directory = program.text.rsplit_once('/').map_or("", |(directory, _)| directory);
            program = ShellWord::literal(&format!("{directory}/{folded}"));
        }
        if invocation == InvocationKind::DotSource && !is_powershell_file(&folded) {
            return PowerShellValue::unknown("", &[]);
        }
        self.run_program(program, arguments, io, ps, scope)
    }

    /// Whether a cmdlet accepts all given parameters. If it does not, the short name means a program.
    fn takes_all_parameters(&self, cmdlet: &str, arguments: &CmdletArguments) -> bool {
        let names: Vec<ShellWord> = arguments
            .0
            .iter()
            .filter_map(|argument| match argument {
                CmdletArgument::Parameter(name) => Some(ShellWord::literal(name)),
                CmdletArgument::Value(value) => {
                    // `--force` and `/s` are options of programs.
                    let option = value
                        .items
                        .first()
                        .filter(|item| item.text.starts_with("--") || item.text.starts_with("-1"))?;
                    Some(option.clone())
                }
            })
            .collect();
        names.iter().all(|name| {
            self.operand_order(cmdlet, &name.text) != OperandOrder::Option
                || self.knows_option(cmdlet, name).unwrap_or(true)
        })
    }

    fn call_powershell_function(
        &mut self,
        body: &Arc<PowerShellScript>,
        arguments: &CmdletArguments,
        flow: &PowerShellValue,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        // A recursive function is not walked again.
        if ps.calls.iter().any(|called| Arc::ptr_eq(called, body)) {
            return PowerShellValue::unknown("", &[]);
        }
        self.exhausted |= ps.calls.len() >= MAX_CALLS;
        if !self.spend_steps(1 + ps.vars.len() + self.powershell_functions.len() / 8) {
            return PowerShellValue::unknown("", &[]);
        }
        for (function, is_called) in &mut self.powershell_functions {
            *is_called |= Arc::ptr_eq(function, body);
        }
        let mut inner = ps.clone();
        inner.calls.push(Arc::clone(body));
        let mut positional = arguments.positional(&[]).into_iter();
        let mut rest = PowerShellValue::default();
        for parameter in &body.parameters {
            let named = arguments.named(&[parameter.as_str()]);
            let value = named.or_else(|| positional.next()).cloned();
            let value = value.unwrap_or_else(|| PowerShellValue::unknown(&format!("${parameter}"), &[]));
            inner.vars.insert(parameter.clone(), value);
        }
        for value in positional {
            rest.extend(value.clone());
        }
        inner.vars.insert("args".to_owned(), rest);
        inner.vars.insert("input".to_owned(), flow.clone());
        inner.vars.insert("_".to_owned(), flow.clone());
        self.walk_powershell(body, &mut inner, scope)
    }

    /// Analyses a program with its arguments; returns its output, which is unknown.
    fn run_program(
        &mut self,
        program: ShellWord,
        arguments: &CmdletArguments,
        io: &Redirections,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let start = self.commands.len();
        let mut words = vec![program];
        for argument in &arguments.0 {
            match argument {
                CmdletArgument::Parameter(name) => words.push(ShellWord::literal(name)),
                CmdletArgument::Value(value) => {
                    words.extend(value.items.iter().map(|item| to_path_word(item, scope)));
                }
            }
        }
        self.run_command(&words, io, scope);
        for block in arguments.blocks() {
            self.walk_with_unknown_item(&block, ps, scope);
        }
        PowerShellValue::unknown("", &(start..self.commands.len()).collect::<Vec<_>>())
    }

    fn walk_with_unknown_item(
        &mut self,
        block: &PowerShellScript,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) {
        let outer = ps.vars.insert("_".to_owned(), PowerShellValue::unknown("$_", &[]));
        self.walk_powershell(block, ps, scope);
        restore_variable(ps, "_", outer);
    }

    /// Analyses a cmdlet that has no redirections.
    pub(super) fn run_cmdlet(
        &mut self,
        cmdlet: &str,
        arguments: &CmdletArguments,
        flow: &PowerShellValue,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        self.run_cmdlet_with(cmdlet, arguments, flow, &Redirections::default(), ps, scope)
    }

    fn run_cmdlet_with(
        &mut self,
        cmdlet: &str,
        arguments: &CmdletArguments,
        flow: &PowerShellValue,
        io: &Redirections,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        match cmdlet {
            "foreach-object" => return self.run_for_each(arguments, flow, ps, scope),
            "where-object" => {
                for block in arguments.blocks() {
                    self.walk_with_unknown_item(&block, ps, scope);
                }
                let items = narrow_words(flow.items.clone());
                return PowerShellValue { items, ..flow.clone() };
            }
            "set-location" | "push-location" | "pop-location" => {
                let name = match cmdlet {
                    "set-location" => "cd",
                    "push-location" => "pushd",
                    _ => "popd",
                };
                let to = arguments
                    .named(&["path", "literalpath"])
                    .or(arguments.positional(&["passthru"]).first().copied());
                let mut words = vec![ShellWord::literal(name)];
                for item in to.map(|to| to.items.as_slice()).unwrap_or_default() {
                    let word = to_path_word(item, scope);
                    words.push(ShellWord { text: word.shape.clone(), ..word });
                }
                self.run_command(&words, io, scope);
                return PowerShellValue::default();
            }
            "set-alias" | "new-alias" => {
                let positional = arguments.positional(&["force", "passthru"]);
                let name = arguments.named(&["name"]).or(positional.first().copied());
                let value = arguments.named(&["value"]).or(positional.last().copied());
                if let (Some(name), Some(value)) = (name, value) {
                    let value = fold_command_name(&value.join("").text);
                    let value = find_cmdlet(&value).map_or(value, str::to_owned);
                    ps.aliases.insert(name.join("").text.to_lowercase(), value);
                }
                return PowerShellValue::default();
            }
            "set-variable" | "new-variable" => {
                let positional = arguments.positional(&["force", "passthru"]);
                let name = arguments.named(&["name"]).or(positional.first().copied());
                let value = arguments.named(&["value"]).or(positional.get(1).copied());
                if let Some(name) = name {
                    let value = value.cloned().unwrap_or_else(|| flow.clone());
                    ps.vars.insert(name.join("").text.to_lowercase(), value);
                }
                return PowerShellValue::default();
            }
            "start-process" => return self.run_started_process(arguments, io, ps, scope),
            "invoke-command"
                if arguments.named(&["computername", "session", "vmname", "hostname"]).is_some() =>
            {
                let site = Arc::new(ExecSite::nested(&scope.site, ExecLocation::Remote, None, Vec::new()));
                let mut remote = scope.started_by(cmdlet).at_site(site, None);
                for block in arguments.blocks() {
                    self.walk_powershell(&block, ps, &mut remote);
                }
                return PowerShellValue::unknown("", &[]);
            }
            _ => {}
        }
        let start = self.commands.len();
        let words = self.cmdlet_words(cmdlet, arguments, flow, scope);
        self.run_command(&words, io, scope);
        for block in arguments.blocks() {
            self.walk_with_unknown_item(&block, ps, scope);
        }
        let from: Vec<usize> = (start..self.commands.len()).collect();
        cmdlet_output(cmdlet, arguments, flow, &from, scope)
    }

    /// Returns the words of a cmdlet as its description expects them. Values of `-Path` and similar parameters become
    /// the first operands, and the value of `-Destination` the last, unless the description has the parameter as an
    /// option. If another parameter has a list, it is repeated for each item. Piped paths become operands.
    fn cmdlet_words(
        &mut self,
        cmdlet: &str,
        arguments: &CmdletArguments,
        flow: &PowerShellValue,
        scope: &ShellScope,
    ) -> Vec<ShellWord> {
        let (mut paths, mut words, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        let mut parameter: Option<(String, OperandOrder)> = None;
        for argument in &arguments.0 {
            match argument {
                CmdletArgument::Parameter(name) => {
                    let order = self.operand_order(cmdlet, name);
                    let name = self.full_parameter_name(cmdlet, name);
                    if order == OperandOrder::Option {
                        words.push(ShellWord::literal(&name));
                    }
                    parameter = Some((name, order));
                }
                CmdletArgument::Value(value) => {
                    let (name, order) = parameter.take().unwrap_or((String::new(), OperandOrder::Option));
                    for (at, item) in value.items.iter().enumerate() {
                        let item = to_path_word(item, scope);
                        match order {
                            OperandOrder::First => paths.push(item),
                            OperandOrder::Last => targets.push(item),
                            OperandOrder::Option => {
                                let repeated =
                                    (at > 0 && !name.is_empty()).then(|| ShellWord::literal(&name));
                                words.extend(repeated.into_iter().chain([item]));
                            }
                        }
                    }
                    for (key, value) in &value.entries {
                        let text = value.join(" ");
                        words.push(ShellWord { text: format!("{key}={}", text.text), ..text });
                    }
                }
            }
        }
        let switches = ["recurse", "force", "verbose", "whatif", "confirm"];
        let has_path = !paths.is_empty() || !arguments.positional(&switches).is_empty();
        let takes_input = self.programs.find(cmdlet).is_some_and(|program| program.language().is_none());
        if !has_path && takes_input {
            paths.extend(flow.items.iter().map(|item| to_path_word(item, scope)));
        }
        std::iter::once(ShellWord::literal(cmdlet)).chain(paths).chain(words).chain(targets).collect()
    }

    /// Returns where the value of a parameter goes among the words of a cmdlet.
    fn operand_order(&self, cmdlet: &str, parameter: &str) -> OperandOrder {
        let name = parameter.trim_start_matches('-').to_lowercase();
        let order = match name.as_str() {
            "lp" | "pspath" => OperandOrder::First,
            name if name.len() > 1 && PATH_PARAMETERS.iter().any(|known| known.starts_with(name)) => {
                OperandOrder::First
            }
            name if name.len() > 2 && "destination".starts_with(name) => OperandOrder::Last,
            _ => OperandOrder::Option,
        };
        if order != OperandOrder::Option
            && self.knows_option(cmdlet, &ShellWord::literal(parameter)) == Some(true)
        {
            return OperandOrder::Option;
        }
        order
    }

    /// Returns the full name of a parameter in lower case, which rules can match: `-recurse` for `-Rec`.
    fn full_parameter_name(&self, cmdlet: &str, parameter: &str) -> String {
        let lower = parameter.to_lowercase();
        let word = [ShellWord::literal(&lower)];
        let Some(program) = self.programs.find(cmdlet) else { return lower };
        let described = DescribedCommand::new(program, &word);
        let option = described.parsed.options.iter().find(|option| option.known && option.written.word == 0);
        option.map_or_else(|| lower.clone(), |option| option.name.to_owned())
    }

    /// Whether the description of a cmdlet has an option; `None` if there is no description.
    fn knows_option(&self, cmdlet: &str, option: &ShellWord) -> Option<bool> {
        let program = self.programs.find(cmdlet)?;
        let described = DescribedCommand::new(program, std::slice::from_ref(option));
        Some(described.parsed.options.iter().any(|option| option.known && option.written.word == 0))
    }

    fn run_for_each(
        &mut self,
        arguments: &CmdletArguments,
        flow: &PowerShellValue,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let item = if flow.items.is_empty() { PowerShellValue::unknown("$_", &[]) } else { flow.clone() };
        let blocks = arguments.blocks();
        if blocks.is_empty() {
            // `| % Delete` calls a method of each item.
            let method = arguments.positional(&[]).first().map(|value| value.join("").text.to_lowercase());
            if method.as_deref() == Some("delete") {
                let mut deleted = CmdletArguments::default();
                deleted.push_value("-LiteralPath", &item);
                return self.run_cmdlet("remove-item", &deleted, &PowerShellValue::default(), ps, scope);
            }
            return PowerShellValue::unknown("", &flow.sources());
        }
        let outer = (ps.vars.insert("_".to_owned(), item.clone()), ps.vars.insert("psitem".to_owned(), item));
        let mut output = PowerShellValue::default();
        for block in blocks {
            output.extend(self.walk_powershell(&block, ps, scope));
        }
        restore_variable(ps, "_", outer.0);
        restore_variable(ps, "psitem", outer.1);
        output
    }

    /// Analyses the program of `Start-Process`, with the words of its argument list.
    fn run_started_process(
        &mut self,
        arguments: &CmdletArguments,
        io: &Redirections,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let positional = arguments.positional(&[
            "wait",
            "nonewwindow",
            "passthru",
            "usenewenvironment",
            "loaduserprofile",
        ]);
        let program = arguments.named(&["filepath", "path"]).or(positional.first().copied());
        let list = arguments.named(&["argumentlist", "args"]).or(positional.get(1).copied());
        let elevated =
            arguments.named(&["verb"]).is_some_and(|verb| verb.join("").text.eq_ignore_ascii_case("runas"));
        let mut words = Vec::new();
        for item in program.map(|value| value.items.as_slice()).unwrap_or_default().iter().take(1) {
            // Text with a directory is one path, which may contain spaces. Other text is a command line.
            let has_directory = item.text.contains(['/', '\\']);
            let parts =
                if has_directory { vec![item.text.as_str()] } else { item.text.split_whitespace().collect() };
            if item.dynamic {
                words.push(item.clone());
            } else {
                words.extend(parts.into_iter().map(ShellWord::literal));
            }
        }
        // A URL is opened in a browser.
        if words.first().is_none_or(|first| first.text.contains("://")) {
            return PowerShellValue::default();
        }
        let mut given = CmdletArguments::default();
        for item in words.iter().skip(1).chain(list.map(|value| value.items.as_slice()).unwrap_or_default()) {
            for word in split_command_line(item) {
                given.0.push(CmdletArgument::Value(PowerShellValue {
                    items: vec![word],
                    ..PowerShellValue::default()
                }));
            }
        }
        let own = [ShellWord::literal("start-process")];
        self.run_command(&own, io, scope);
        let mut inner = scope.started_by(if elevated { "sudo" } else { "start-process" });
        let first = words.first().cloned().unwrap_or_default();
        self.run_named(
            &first,
            InvocationKind::Call,
            &given,
            &PowerShellValue::default(),
            &Redirections::default(),
            ps,
            &mut inner,
        )
    }
}

/// Splits one item of an argument list into words.
fn split_command_line(item: &ShellWord) -> Vec<ShellWord> {
    if item.dynamic || !item.text.contains(char::is_whitespace) {
        return vec![item.clone()];
    }
    let mut words = Vec::new();
    let mut rest = item.text.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(ShellWord::literal(word));
        rest = after.trim_start();
    }
    words
}

/// Converts a word that is written as a Windows path or as a path on a PowerShell drive. Other words stay unchanged.
pub(super) fn to_path_word(word: &ShellWord, scope: &ShellScope) -> ShellWord {
    let pattern = word.pattern || !word.dynamic && word.text.contains(['*', '?']);
    match provider_path(&word.shape, &home_directory(scope)) {
        Some(shape) => ShellWord {
            text: if word.dynamic { word.text.clone() } else { shape.clone() },
            shape,
            pattern,
            ..word.clone()
        },
        None => ShellWord { pattern, ..word.clone() },
    }
}
