// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Summarizes descriptions in readable form.

use serde::Serialize;

use crate::format::record::{Arity, CommandRecord, OperandCase, OperandSlot, OptionRecord, SlotCount};
use crate::format::role::Role;

/// A program or sub-command with its description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandSummary {
    /// First name of the command.
    pub name: String,
    /// Roles of operands, and the options that select them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<OperandSummary>,
    /// Options with a role or a value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OptionSummary>,
    /// Summaries of sub-commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandSummary>,
}

/// The roles of operands, as a data file spells them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperandSummary {
    /// Options, one of which must be present. Empty: always.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// The roles in order.
    pub roles: String,
}

/// An option with its role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OptionSummary {
    /// Names, separated by spaces.
    pub names: String,
    /// Whether the option takes a value.
    pub takes_value: bool,
    /// Roles of the values, or of the option itself.
    pub role: String,
}

// === impl CommandSummary ===

impl CommandSummary {
    pub(crate) fn new(record: &CommandRecord<'_>) -> Self {
        let mut options: Vec<OptionSummary> = Vec::new();
        for table in [record.options, record.everywhere] {
            for option in table.names().filter_map(|key| table.record::<OptionRecord<'_>>(key)) {
                let summary = OptionSummary::new(&option);
                // An option has a key for each of its names.
                if !options.contains(&summary) {
                    options.push(summary);
                }
            }
        }
        options.retain(|option| option.takes_value || option.role != Role::Text.name());
        let names = record.commands.names();
        let commands =
            names.filter_map(|key| record.commands.command(key).filter(|command| command.name == key.name));
        Self {
            name: record.name.to_owned(),
            operands: record.operands.iter().map(OperandSummary::new).collect(),
            options,
            commands: commands.map(|command| Self::new(&command)).collect(),
        }
    }
}

impl OperandSummary {
    fn new(case: &OperandCase<'_>) -> Self {
        let roles: Vec<_> = case.slots.iter().copied().map(spell_slot).collect();
        Self {
            with: case.options.iter().map(|option| (*option).to_owned()).collect(),
            roles: roles.join(" "),
        }
    }
}

impl OptionSummary {
    fn new(option: &OptionRecord<'_>) -> Self {
        let roles = std::iter::once(&option.role).chain(&option.more).map(|role| spell_role(*role));
        Self {
            names: option.names.to_owned(),
            takes_value: option.arity != Arity::None,
            role: roles.collect::<Vec<_>>().join(" "),
        }
    }
}

fn spell_slot(slot: OperandSlot) -> String {
    let count = match slot.count {
        SlotCount::One => "",
        SlotCount::Optional => "?",
        SlotCount::Many => "...",
    };
    format!("{}{count}", spell_role(slot.role))
}

fn spell_role(role: Role) -> String {
    match role {
        Role::Code(language) => format!("code:{}", language.name()),
        role => role.name().to_owned(),
    }
}
