// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads `languages/*.yaml` into a [`LanguageDescription`]. Used by the build script and by tests only.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tenterhook_document::{Node, Spot, Value};

use super::call::{CallEffect, CallResult, CallRule, FileAction, TreeReach};
use super::description::{
    LanguageDescription, LanguageSyntax, NameRules, NamedConstant, OperatorKind, ReaderKind,
};
use super::lexical::{Lexical, QuoteRule};

/// A mistake in a language file, with its position.
pub(crate) type LanguageMistake = (Spot, String);

/// A line under `calls` that cannot be parsed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum CallSyntaxError {
    #[error("no effect and no result")]
    Empty,
    #[error("a computed value is the result of calls without effects only")]
    ValueWithEffects,
    #[error("unknown effect `{0}`")]
    UnknownEffect(String),
    #[error("unknown result `{0}`")]
    UnknownResult(String),
    #[error("`{0}` is not the number of an argument")]
    NotAnArgument(String),
    /// The message of the deserializer, which suggests a similar name.
    #[error("{0}")]
    UnknownFunction(String),
}

/// A language file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageFile {
    #[serde(default)]
    reader: ReaderKind,
    #[serde(default)]
    lexical: Lexical<String>,
    #[serde(default)]
    syntax: LanguageSyntax<String>,
    #[serde(default)]
    names: NameRules<String>,
    #[serde(default)]
    operators: BTreeMap<String, OperatorKind>,
    #[serde(default)]
    constants: BTreeMap<String, NamedConstant>,
    #[serde(default)]
    calls: BTreeMap<String, String>,
}

/// Reads a language file.
pub(crate) fn parse_file(text: &str) -> Result<LanguageDescription<String>, LanguageMistake> {
    let root = tenterhook_document::parse(text)?;
    if let Some(repeated) = tenterhook_document::repeated_keys(&root).into_iter().next() {
        return Err((repeated.spot, repeated.message));
    }
    let file: LanguageFile =
        tenterhook_document::read(&root).map_err(|misfit| (misfit.spot, misfit.message))?;
    let LanguageFile { reader, mut lexical, mut syntax, mut names, operators, constants, calls } = file;
    let parse_row = |(name, line): (String, String)| match parse_call(&line) {
        Ok(call) => Ok((name, call)),
        Err(error) => Err((spot_of_call(&root, &name), format!("`{name}`: {error}"))),
    };
    let calls = calls.into_iter().map(parse_row).collect::<Result<_, _>>()?;
    sort_lists(&mut lexical, &mut syntax, &mut names);
    let (operators, constants) = (operators.into_iter().collect(), constants.into_iter().collect());
    Ok(LanguageDescription { reader, lexical, syntax, names, operators, constants, calls })
}

fn spot_of_call(root: &Node, name: &str) -> Spot {
    match root.get("calls").map(|calls| &calls.value) {
        Some(Value::Map(rows)) => {
            rows.iter().find(|(key, _)| key.text() == Some(name)).map_or(root.spot, |(key, _)| key.spot)
        }
        _ => root.spot,
    }
}

/// Sorts lists for binary search. Lists in which the first match is used are sorted by length, longest first.
fn sort_lists(
    lexical: &mut Lexical<String>,
    syntax: &mut LanguageSyntax<String>,
    names: &mut NameRules<String>,
) {
    for list in [
        &mut lexical.end_of_code,
        &mut lexical.words_before_values,
        &mut syntax.prefix_words,
        &mut syntax.declaration_words,
        &mut syntax.function_words,
        &mut syntax.block_words,
        &mut syntax.skipped_statements,
        &mut syntax.member_signs,
        &mut syntax.topic_calls,
        &mut syntax.block_functions,
        &mut syntax.tree_walkers,
        &mut syntax.bare_argument_signs,
        &mut syntax.bare_block_calls,
        &mut names.class_methods,
    ] {
        list.sort();
    }
    let longest_first = |rule: &QuoteRule<String>| std::cmp::Reverse(rule.open.len());
    lexical.quotes.sort_by_key(longest_first);
    lexical.delimited_quotes.sort_by_key(longest_first);
    lexical.sigils.sort_by_key(|sigil| std::cmp::Reverse(sigil.len()));
}

/// Parses the line of a call: `read 0, write 1 -> file 0`.
fn parse_call(line: &str) -> Result<CallRule<String>, CallSyntaxError> {
    let (effects, result) = line.split_once("->").unwrap_or((line, ""));
    let effects = effects.split(',').map(str::trim).filter(|effect| !effect.is_empty());
    let effects = effects.map(parse_effect).collect::<Result<Vec<_>, _>>()?;
    let result = parse_result(result.trim())?;
    if effects.is_empty() && result == CallResult::Nothing {
        return Err(CallSyntaxError::Empty);
    }
    if !effects.is_empty() && matches!(result, CallResult::Value(_)) {
        return Err(CallSyntaxError::ValueWithEffects);
    }
    Ok(CallRule { effects, result })
}

fn parse_effect(text: &str) -> Result<CallEffect<String>, CallSyntaxError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(match words.as_slice() {
        ["open", path, "mode", mode] => {
            CallEffect::Open { path: parse_argument_index(path)?, mode: parse_argument_index(mode)? }
        }
        ["open-or-pipe", path, "mode", mode] => {
            CallEffect::OpenOrPipe { path: parse_argument_index(path)?, mode: parse_argument_index(mode)? }
        }
        ["open-handle"] => CallEffect::OpenHandle,
        ["shell", at] => CallEffect::Shell(parse_argument_index(at)?),
        ["program", at] => CallEffect::Program(parse_argument_index(at)?),
        ["shell-or-words"] => CallEffect::ShellOrWords,
        ["shell-or-list", at] => CallEffect::ShellOrList(parse_argument_index(at)?),
        ["subprocess"] => CallEffect::Subprocess,
        ["spawn"] => CallEffect::Spawn,
        ["connect", at] => CallEffect::Connect(parse_argument_index(at)?),
        ["connect-host", at, scheme] => {
            CallEffect::ConnectHost(parse_argument_index(at)?, (*scheme).to_owned())
        }
        ["socket", at] => CallEffect::Socket(parse_argument_index(at)?),
        ["socket-port-host"] => CallEffect::SocketPortHost,
        ["join-shell"] => CallEffect::JoinShell,
        ["feed", at] => CallEffect::Feed(parse_argument_index(at)?),
        ["eval", at] => CallEffect::Eval(parse_argument_index(at)?),
        ["run-unknown"] => CallEffect::RunUnknown,
        ["chdir", at] => CallEffect::ChangeDirectory(parse_argument_index(at)?),
        [action, at] => file_effect(action, at, TreeReach::No)?,
        [action, at, "tree-if", option] => {
            file_effect(action, at, TreeReach::IfOption((*option).to_owned()))?
        }
        _ => return Err(CallSyntaxError::UnknownEffect(text.to_owned())),
    })
}

fn file_effect(
    action: &str,
    at: &str,
    tree: TreeReach<String>,
) -> Result<CallEffect<String>, CallSyntaxError> {
    let (name, tree) = match action.strip_suffix("-tree") {
        Some(name) => (name, TreeReach::Yes),
        None => (action, tree),
    };
    let action = match name {
        "read" => FileAction::Read,
        "write" => FileAction::Write,
        "append" => FileAction::Append,
        "delete" => FileAction::Delete,
        "move" => FileAction::Move,
        "permit" => FileAction::Permit,
        "run" => FileAction::Run,
        _ => return Err(CallSyntaxError::UnknownEffect(action.to_owned())),
    };
    let (at, each) = at.strip_suffix("..").map_or((at, false), |at| (at, true));
    Ok(CallEffect::File { action, argument: parse_argument_index(at)?, each, tree })
}

fn parse_result(text: &str) -> Result<CallResult, CallSyntaxError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(match words.as_slice() {
        [] => CallResult::Nothing,
        ["object"] => CallResult::Object,
        ["object-with-arguments"] => CallResult::ObjectWithArguments,
        ["network"] => CallResult::Network,
        ["file", at] => CallResult::FileText(parse_argument_index(at)?),
        [name] => CallResult::Value(parse_function(name)?),
        _ => return Err(CallSyntaxError::UnknownResult(text.to_owned())),
    })
}

/// Parses the index of an argument, counted from 0.
fn parse_argument_index(text: &str) -> Result<usize, CallSyntaxError> {
    text.parse().map_err(|_| CallSyntaxError::NotAnArgument(text.to_owned()))
}

fn parse_function<T: DeserializeOwned>(name: &str) -> Result<T, CallSyntaxError> {
    let node = Node { spot: Spot::default(), value: Value::Text(name.to_owned()) };
    tenterhook_document::read(&node).map_err(|misfit| CallSyntaxError::UnknownFunction(misfit.message))
}
