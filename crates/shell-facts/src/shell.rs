// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Turns shell text into the commands that would run.
//!
//! The text is parsed into a syntax tree, which is walked in execution order. The walk tracks variables, the working
//! directory and standard input. Text that cannot be understood is reported as [`UnreadText`], so that rules can
//! decide what to do with it.

mod added_reading;
mod applied_patch;
mod assign;
mod braces;
mod builtin;
mod chain;
mod code;
mod command;
mod command_output;
mod compound;
mod cwd;
mod decode;
mod descriptor;
mod endless_loop;
mod environment;
mod exec_site;
mod expand;
mod file_effects;
mod file_input;
mod file_mode;
mod find;
mod git_scope;
mod hook_variable;
mod interpret;
mod interpreter;
mod invoke;
mod launch;
mod misc_launchers;
mod multiplexer;
mod named_code;
mod narrow;
mod options;
mod own_files;
mod parameter;
mod powershell;
mod printed_text;
mod redirect;
mod remote_exec;
mod request_client;
mod scope;
mod second_evaluation;
mod simple_command;
mod task_runner;
mod typed_input;
mod walk;
mod windows_command;
mod word;
mod wrappers;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use tenterhook_event::{ToolCall, ToolCommand};
use tenterhook_paths::{Certainty, PathRoots};
use tenterhook_powershell::PowerShellScript;
use tenterhook_programs::Programs;
use tenterhook_shell::{DialectReadings, ParsedScript, parse_readings};

use super::TextSpan;
use super::effect::FileEffect;
use super::run_file::{RunFile, RunTexts};
use added_reading::AddedReading;
pub use braces::expand_braces;
pub use command::ShellCommand;
use descriptor::OpenSink;
pub use environment::{is_ambient_variable, is_redirecting_variable, is_redirecting_word};
pub use file_effects::names_whole_directory;
pub(crate) use find::find_targets;
pub use git_scope::SCRATCH_ACT;
pub use interpret::interpreter_of_file;
pub use options::ShellOption;
use scope::ShellScope;
pub use simple_command::DECLARING_BUILTINS;
use simple_command::ElementChoice;
pub use tenterhook_code_facts::UnreadText;
use walk::{FunctionBody, SourceText};
pub use word::ShellWord;

/// Maximum length of a text that is parsed.
const MAX_TEXT_BYTES: usize = 1024 * 1024;
/// Maximum number of steps for all texts of one call: nodes visited, outputs connected and variables copied.
const MAX_STEPS: usize = 200_000;
/// Maximum number of words and variables copied to parse commands again with descriptions that the policy adds.
const MAX_ADDITION_STEPS: usize = 50_000;
const MAX_COMMANDS: usize = 1_000;
/// Maximum number of unread texts reported for the same reason.
const MAX_UNREAD_PER_REASON: usize = 16;
/// Maximum number of bytes of unread text kept for one call. Every rule searches all of it for words.
const MAX_UNREAD_BYTES: usize = 128 * 1024;
/// Maximum nesting depth of the syntax tree, and of scripts inside scripts.
const MAX_DEPTH: usize = 60;

/// The commands of a call and their effects.
#[derive(Debug)]
pub struct ShellReading {
    /// Every command that would run.
    pub commands: Vec<ShellCommand>,
    /// Effects of commands and code on files.
    pub effects: Vec<FileEffect>,
    /// URLs that code connects to.
    pub connects: Vec<String>,
    /// Lines that patches would add.
    pub contents: Vec<String>,
    /// Text that was not understood or not read.
    pub unread: Vec<UnreadText>,
    /// Whether some shell text was not understood.
    pub unparsed: bool,
    /// Files on this machine that the call would run.
    pub run_files: Vec<RunFile>,
    /// Whether the call sets a variable that directs later commands to other files, or one with an unknown name.
    pub redirects_later: bool,
}

/// Reads all commands of a call, and code in other languages that the tool itself runs. `terminal` means that text
/// can be typed into running programs without firing a hook; `files` contains the commands of files that the call runs.
pub fn read_commands(
    tool: &ToolCall,
    roots: &PathRoots,
    cwd: Option<&str>,
    terminal: bool,
    programs: &Programs,
    files: Option<&RunTexts>,
) -> ShellReading {
    let site = Arc::new(exec_site::ExecSite::local(roots));
    let mut reader = ShellReader {
        programs,
        files,
        run_files: Vec::new(),
        redirects_later: false,
        terminal,
        commands: Vec::new(),
        effects: Vec::new(),
        connects: Vec::new(),
        contents: Vec::new(),
        typed_line: String::new(),
        running_files: BTreeSet::new(),
        skips_effects: false,
        unread: Vec::new(),
        unread_bytes_left: MAX_UNREAD_BYTES,
        further_unparsed: Vec::new(),
        unparsed: false,
        steps: MAX_STEPS,
        depth: 0,
        exhausted: false,
        defined_functions: Vec::new(),
        element_choice: None,
        certainty: Certainty::Certain,
        reports_syntax: true,
        span: None,
        texts_entered: 0,
        called_functions: Vec::new(),
        powershell_functions: Vec::new(),
        exit_traps: Vec::new(),
        open_sinks: Vec::new(),
        descriptor_writers: Vec::new(),
        additions: Vec::new(),
        addition_steps: MAX_ADDITION_STEPS,
        skipped_additions: Vec::new(),
        first_writable: 0,
        changed_copies: Vec::new(),
    };
    for code in tool.code_texts() {
        reader.read_tool_code(&tool.name, code, &ShellScope::new(cwd, Arc::clone(&site)));
        if reader.exhausted {
            reader.report_opaque("too large or too deeply nested", code);
        }
    }
    for (number, command) in tool.commands().iter().enumerate() {
        // Commands beyond the limit would be dropped.
        if reader.commands.len() >= MAX_COMMANDS {
            reader.report_opaque("too many commands", "");
            break;
        }
        let mut scope = ShellScope::new(cwd, Arc::clone(&site));
        scope.stdin.from_terminal = terminal;
        reader.exhausted = false;
        reader.span = match command {
            ToolCommand::Text(_) => {
                Some(TextSpan { text: u32::try_from(number).unwrap_or(u32::MAX), start: 0, end: 0 })
            }
            ToolCommand::Argv(_) => None,
        };
        let whole = match command {
            ToolCommand::Text(text) if types_into_shell(tool) => {
                let text = multiplexer::typed_text(text);
                if reader.is_powershell(tool, &text) {
                    reader.read_powershell(&text, &mut scope);
                } else {
                    reader.read_text(&text, &mut scope);
                }
                Cow::Owned(text)
            }
            ToolCommand::Text(text) if reader.is_powershell(tool, text) => {
                reader.read_powershell(text, &mut scope);
                Cow::Borrowed(*text)
            }
            ToolCommand::Text(text) => {
                reader.read_text(text, &mut scope);
                Cow::Borrowed(*text)
            }
            ToolCommand::Argv(words) => {
                let words: Vec<_> = words.iter().map(|word| ShellWord::literal(word)).collect();
                reader.run_words(&words, &mut scope);
                Cow::Owned(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
            }
        };
        reader.walk_defined();
        reader.run_open_sinks();
        reader.run_pipe_texts(&scope);
        if reader.exhausted {
            reader.report_opaque("too large or too deeply nested", &whole);
        }
    }
    reader.read_additions();
    reader.report_further_unparsed();
    ShellReading {
        commands: reader.commands,
        effects: reader.effects,
        connects: reader.connects,
        contents: reader.contents,
        unread: reader.unread,
        unparsed: reader.unparsed,
        run_files: reader.run_files,
        redirects_later: reader.redirects_later,
    }
}

/// Whether a tool types its text into a running shell, key by key.
fn types_into_shell(tool: &ToolCall) -> bool {
    matches!(tool.name.as_str(), "write_bash" | "write_powershell")
}

struct ShellReader<'p> {
    /// Descriptions of programs.
    programs: &'p Programs,
    /// Commands of files that the call runs, if the caller has read them.
    files: Option<&'p RunTexts>,
    /// Files on this machine that the call would run.
    run_files: Vec<RunFile>,
    /// Whether a variable was set that directs later commands to other files.
    redirects_later: bool,
    /// Whether text can be typed into running programs without firing a hook.
    terminal: bool,
    commands: Vec<ShellCommand>,
    effects: Vec<FileEffect>,
    connects: Vec<String>,
    /// Text that earlier commands typed into a terminal without ending the line.
    typed_line: String,
    contents: Vec<String>,
    /// Files and tasks whose content is being read.
    running_files: BTreeSet<String>,
    /// Whether file effects are skipped, because the command being read only repeats the effects of another one.
    skips_effects: bool,
    unread: Vec<UnreadText>,
    /// How many more bytes of unread text are kept.
    unread_bytes_left: usize,
    /// Unparsed texts beyond the first ones of each reason, joined.
    further_unparsed: Vec<(&'static str, String)>,
    unparsed: bool,
    steps: usize,
    depth: usize,
    exhausted: bool,
    /// Function bodies that have not been walked, with the scope they were defined in.
    defined_functions: Vec<(Arc<FunctionBody>, ShellScope)>,
    /// Which array element the current command is read with.
    element_choice: Option<ElementChoice>,
    /// Whether the text being read certainly or possibly runs.
    certainty: Certainty,
    /// Whether syntax errors are reported.
    reports_syntax: bool,
    /// The part of the call that is being read; `None` for commands given as a list of words.
    span: Option<TextSpan>,
    /// Current nesting depth of scripts inside scripts.
    texts_entered: usize,
    /// Functions whose body has been walked.
    called_functions: Vec<Arc<FunctionBody>>,
    /// Functions of the PowerShell script that is being read, and whether they were called.
    powershell_functions: Vec<(Arc<PowerShellScript>, bool)>,
    /// Texts that run when the script ends, with the scope at that point.
    exit_traps: Vec<String>,
    /// Commands that read what the rest of the script writes to a descriptor.
    open_sinks: Vec<OpenSink>,
    /// Indices of the commands that write to a descriptor other than standard output and standard error.
    descriptor_writers: Vec<usize>,
    /// Commands to be parsed again with descriptions that the policy adds.
    additions: Vec<AddedReading>,
    addition_steps: usize,
    /// Commands that were not parsed again because a limit was reached.
    skipped_additions: Vec<String>,
    /// Commands before this index are final.
    first_writable: usize,
    /// Changed copies of final commands, by index.
    changed_copies: Vec<(usize, ShellCommand)>,
}

impl ShellReader<'_> {
    /// Reads text as a script in the given scope.
    fn read_text(&mut self, text: &str, scope: &mut ShellScope) {
        if text.len() > MAX_TEXT_BYTES {
            return self.report_opaque("longer than 1 MiB", text);
        }
        // Shells ignore NUL bytes.
        if text.contains('\0') {
            self.report_unparsed("it contains NUL bytes", text);
            return self.read_text(&text.replace('\0', ""), scope);
        }
        // No further command would be kept, so the rest is not read.
        self.exhausted |= self.commands.len() >= MAX_COMMANDS;
        if !self.spend_steps(1 + text.len() / 8) {
            return;
        }
        let DialectReadings { bash, zsh } = parse_readings(text, false);
        let source: SourceText = text.into();
        let (certainty, reports) = (self.certainty, self.reports_syntax);
        // If one of the shells understands the whole text, syntax errors of the other shell are not reported.
        self.reports_syntax = !zsh.as_ref().is_some_and(ParsedScript::is_complete);
        let before = zsh.is_some().then(|| scope.clone());
        self.walk_parsed(&bash, &source, scope);
        // The shell may be zsh. Both shells run the lines before a syntax error, so both trees are walked.
        if let (Some(zsh), Some(mut before)) = (zsh, before) {
            (self.certainty, self.reports_syntax) = (Certainty::Possible, false);
            self.walk_parsed(&zsh, &source, &mut before);
        }
        (self.certainty, self.reports_syntax) = (certainty, reports);
    }

    fn walk_parsed(&mut self, parsed: &ParsedScript, source: &SourceText, scope: &mut ShellScope) {
        let (span, entered) = (self.span, self.texts_entered);
        self.texts_entered += 1;
        self.with_exit_traps(scope, |reader, scope| reader.walk_script(&parsed.script, source, scope));
        (self.span, self.texts_entered) = (span, entered);
    }

    /// Walks a script, and then the traps that run when the script ends.
    fn with_exit_traps(&mut self, scope: &mut ShellScope, walk: impl FnOnce(&mut Self, &mut ShellScope)) {
        if !self.enter_level() {
            return;
        }
        let outer = std::mem::take(&mut self.exit_traps);
        walk(self, scope);
        for trap in std::mem::replace(&mut self.exit_traps, outer) {
            self.read_text(&trap, &mut scope.started_by("trap"));
        }
        self.leave_level();
    }

    /// Walks functions that are never called by name, because a trap or another process may call them. They may
    /// define further functions.
    fn walk_defined(&mut self) {
        self.certainty = Certainty::Possible;
        while !self.defined_functions.is_empty() {
            for (body, scope) in std::mem::take(&mut self.defined_functions) {
                if self.mark_called(&body) {
                    self.walk_function(&body, &mut scope.with_any_arguments());
                }
            }
        }
        self.certainty = Certainty::Certain;
    }

    /// Records that a function runs; returns false if it was recorded before.
    fn mark_called(&mut self, body: &Arc<FunctionBody>) -> bool {
        let is_new = !self.called_functions.iter().any(|called| Arc::ptr_eq(called, body));
        if is_new {
            self.called_functions.push(Arc::clone(body));
        }
        is_new
    }

    /// Reports text that the parser did not understand.
    fn report_unparsed(&mut self, why: &'static str, text: &str) {
        self.unparsed = true;
        // Every rule checks every text, so all further texts with the same reason are checked as one.
        if self.unread.iter().filter(|unread| unread.why == why).count() < MAX_UNREAD_PER_REASON {
            let unread = self.make_unread(why, text, true);
            self.push_unread(unread);
            return;
        }
        let same = self.further_unparsed.iter().position(|(reason, _)| *reason == why);
        let at = same.unwrap_or_else(|| {
            self.further_unparsed.push((why, String::new()));
            self.further_unparsed.len() - 1
        });
        // A longer text is cut, so more of it does not change the result.
        if let Some((_, further)) = self.further_unparsed.get_mut(at)
            && further.len() <= MAX_UNREAD_BYTES
        {
            further.push_str(text);
            further.push('\n');
        }
    }

    /// Reports the unparsed texts beyond the first ones of each reason as one text each.
    fn report_further_unparsed(&mut self) {
        for (why, text) in std::mem::take(&mut self.further_unparsed) {
            let unread = self.make_unread(why, &text, true);
            self.push_unread(unread);
        }
    }

    /// Reports text that is not read at all and may therefore do anything.
    fn report_opaque(&mut self, why: &'static str, text: &str) {
        let mut unread = self.make_unread(why, text, true);
        unread.is_opaque = true;
        self.push_unread(unread);
    }

    /// Reports text that is not shell code, or that is only known at run time.
    fn report_unread(&mut self, why: &'static str, text: &str) {
        let unread = self.make_unread(why, text, false);
        self.push_unread(unread);
    }

    /// Creates an unread text with as many bytes as the limit allows.
    fn make_unread(&mut self, why: &'static str, text: &str, shell: bool) -> UnreadText {
        // Once enough texts that may do anything are reported, the words of further texts do not matter.
        let most = if self.has_enough_opaque() { 0 } else { self.unread_bytes_left };
        let unread = UnreadText::new(why, text, shell, most);
        self.unread_bytes_left = self.unread_bytes_left.saturating_sub(text.len());
        unread
    }

    fn push_unread(&mut self, unread: UnreadText) {
        self.unparsed |= unread.is_opaque;
        if !unread.is_opaque || !self.has_enough_opaque() {
            self.unread.push(unread);
        }
    }

    /// Whether enough opaque texts have been reported.
    fn has_enough_opaque(&self) -> bool {
        self.unread.iter().filter(|unread| unread.is_opaque).count() >= MAX_UNREAD_PER_REASON
    }

    /// Returns the index of the command that was parsed last.
    fn last_command(&self) -> Option<usize> {
        self.commands.len().checked_sub(1)
    }

    /// Enters a nesting level; returns false if the limit is reached.
    fn enter_level(&mut self) -> bool {
        if self.depth >= MAX_DEPTH || self.exhausted {
            self.exhausted = true;
            return false;
        }
        self.depth += 1;
        true
    }

    fn leave_level(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Uses up steps; returns false if none are left.
    fn spend_steps(&mut self, steps: usize) -> bool {
        match self.steps.checked_sub(steps) {
            Some(left) if !self.exhausted => {
                self.steps = left;
                true
            }
            _ => {
                self.exhausted = true;
                false
            }
        }
    }
}

#[cfg(test)]
mod tests;
