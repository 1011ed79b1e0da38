// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rule file as it is written. The doc comments here are the text of its JSON Schema.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use tenterhook_event::{Decision, EventKind};

use crate::facts::Place;
use crate::rule::{Mode, Severity};

/// A file of Tenterhook rules.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is used: rules are read one by one")]
pub(crate) struct File {
    /// The version of this format: 1.
    version: u32,
    /// Whether the rules decide or only watch. Default: `enforce`.
    #[schemars(default)]
    mode: Option<Mode>,
    /// The rules, in the order in which their findings are reported.
    rules: Vec<Rule>,
}

/// One rule: what it looks for and what it says then.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Rule {
    /// A name that is unique among all rules: small letters, digits, `-`, `.`, `_`, `/`.
    pub(crate) id: String,
    /// What the rule is for, in one sentence.
    #[serde(default)]
    pub(crate) description: String,
    /// How bad it would be. Default: `medium`.
    #[serde(default)]
    pub(crate) severity: Severity,
    /// Whether this rule decides or only watches. Default: what the file says.
    #[serde(default)]
    pub(crate) mode: Option<Mode>,
    /// What the rule looks for. All conditions must hold.
    #[serde(rename = "match")]
    pub(crate) matches: Match,
    /// What to say when a command could not be understood and mentions what this rule looks for.
    /// Default: `ask` (`ignore` for a rule that allows).
    #[serde(default)]
    pub(crate) unparsed: Option<Unparsed>,
    /// What the rule says when it matches.
    pub(crate) verdict: Verdict,
    /// Why, for the agent and the person.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// What the agent could do instead.
    #[serde(default)]
    pub(crate) nudge: Option<String>,
    /// Calls on which the rule is tried when it is loaded; a rule that fails one is refused.
    #[serde(default)]
    pub(crate) examples: Examples,
}

/// Conditions on one event. Those that are given must all hold.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Match {
    /// Kinds of events. Default: `pre-tool` and `permission-request`.
    pub(crate) event: Option<Many<EventKind>>,
    /// Tool classes (`shell`, `read`, …) or globs on the harness's own tool names.
    pub(crate) tool: Option<Many<String>>,
    /// Some one command that would run satisfies all of this.
    pub(crate) shell: Option<Shell>,
    /// Some path of the call matches: a path argument, or a shell operand or input redirection.
    /// Globs; `~/` stands for any home directory, a relative glob is relative to the project, `!`
    /// takes matches away.
    pub(crate) path: Option<Many<String>>,
    /// At least one of these alternatives holds too.
    pub(crate) any: Vec<Match>,
}

/// Conditions on one command of a shell line.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Shell {
    /// Globs on the program's name without its directory; `!` takes names away. An empty name stands
    /// for a program that is only known when it runs.
    pub(crate) program: Option<Many<String>>,
    /// Any of these options is given: letters (also in clusters) or long names (also abbreviated).
    pub(crate) option: Option<Many<String>>,
    /// These words stand among the command's words, in this order. Globs.
    pub(crate) words: Option<Many<String>>,
    /// Some operand satisfies all of this.
    pub(crate) operand: Option<Operand>,
    /// Some path the command names matches: an operand, an option's value, `@file`, `key=file` or
    /// an input redirection. Globs as in `path` above.
    pub(crate) path: Option<Many<String>>,
    /// As `path`, but not what the command only writes to, leaves out, or uses as a key.
    pub(crate) reads: Option<Many<String>>,
    /// Some file redirected into the command matches. Globs as in `path` above.
    pub(crate) input: Option<Many<String>>,
    /// The command's output reaches one of these programs (name globs) through a pipe, `<(…)` or
    /// `$(…)`; an interpreter counts only when it would run what it gets as a script. An empty name
    /// stands for a program that is only known when it runs.
    pub(crate) pipes_into: Option<Many<String>>,
}

/// Conditions on one operand of a command.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Operand {
    /// Where the operand points: any of these.
    pub(crate) place: Option<Many<Place>>,
    /// Globs on the operand as a path, as in `path` above.
    pub(crate) path: Option<Many<String>>,
}

/// What a rule may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum Verdict {
    /// Vouch for it: the harness may skip its own question.
    Allow,
    /// A person has to say yes.
    Ask,
    /// It must not happen.
    Deny,
}

/// What to say about a command that could not be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum Unparsed {
    /// Refuse it.
    Deny,
    /// Let a person decide.
    Ask,
    /// Say nothing.
    Ignore,
}

/// Calls and what the rule has to say about each.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Examples {
    /// Calls the rule must deny.
    pub(crate) deny: Vec<Example>,
    /// Calls the rule must ask about.
    pub(crate) ask: Vec<Example>,
    /// Calls the rule must let pass.
    pub(crate) allow: Vec<Example>,
}

/// One call: a text is a shell command, anything else names its tool.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
pub(crate) enum Example {
    /// A shell command.
    Command(String),
    /// Any tool call.
    Call(ExampleCall),
}

/// A tool call in an example.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ExampleCall {
    /// The harness's name of the tool.
    pub(crate) tool: String,
    /// Its arguments.
    #[serde(default)]
    pub(crate) args: serde_json::Value,
    /// The kind of event. Default: `pre-tool`.
    #[serde(default)]
    pub(crate) event: Option<EventKind>,
}

/// One value or a list of them.
#[derive(Debug, Clone)]
pub(crate) struct Many<T>(pub(crate) Vec<T>);

// === impl Verdict ===

impl From<Verdict> for Decision {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::Ask => Self::Ask,
            Verdict::Deny => Self::Deny,
        }
    }
}

// === impl Many ===

// By hand: serde's `untagged` would lose the place of what does not fit.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMore<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value or a list of them")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<T>, E> {
                T::deserialize(text.into_deserializer()).map(|one| vec![one])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(list)
            }
        }

        deserializer.deserialize_any(OneOrMore(PhantomData)).map(Self)
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Many<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("OneOrMore_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = generator.subschema_for::<T>();
        schemars::json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

// === impl Example ===

impl<'de> Deserialize<'de> for Example {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrCall;

        impl<'de> Visitor<'de> for TextOrCall {
            type Value = Example;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a shell command, or a map with `tool` and `args`")
            }

            fn visit_str<E>(self, text: &str) -> Result<Example, E> {
                Ok(Example::Command(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Example, A::Error> {
                ExampleCall::deserialize(de::value::MapAccessDeserializer::new(map)).map(Example::Call)
            }
        }

        deserializer.deserialize_any(TextOrCall)
    }
}
