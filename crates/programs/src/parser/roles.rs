// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Assigns roles to operands by position.

use crate::format::record::{OperandSlot, SlotCount};
use crate::format::role::Role;
use crate::parsed_args::WordSlice;

/// Whether a word with this role gives a program instructions, so that it opens no prompt.
pub(super) fn is_instruction(role: Role) -> bool {
    matches!(
        role,
        Role::Script | Role::Code(_) | Role::Shell | Role::Command | Role::Info | Role::Batch | Role::Listen
    )
}

pub(super) fn first_letter(text: &str) -> &str {
    text.chars().next().and_then(|letter| text.get(..letter.len_utf8())).unwrap_or_default()
}

/// Whether a word sets a variable, `NAME=value`, or clears all of them, `-`.
pub(super) fn is_assignment(text: &str) -> bool {
    text == "-"
        || text.split_once('=').is_some_and(|(name, _)| {
            // bash exports functions as `BASH_FUNC_name%%=() { …; }`.
            let name = name.strip_suffix("%%").unwrap_or(name);
            !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        })
}

/// Whether a word is a request method: `GET`.
fn is_method(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Whether a word is a whole number: `0`, `-5`.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word has the form that a slot requires.
fn fits_form(role: Role, text: &str) -> bool {
    match role {
        Role::Method => is_method(text),
        Role::Number => is_number(text),
        _ => true,
    }
}

/// Assigns to every operand the role of its slot. Slots after a slot that takes any number of operands are counted
/// from the end.
pub(super) fn assign_roles(slots: &[OperandSlot], operands: &[WordSlice<'_>]) -> Vec<Role> {
    let mut roles = vec![Role::Text; operands.len()];
    let mut open = 0..operands.len();
    let mut slots = slots;
    while let Some((slot, rest)) = slots.split_first() {
        if slot.count == SlotCount::Many && slot.role != Role::Assignment {
            break;
        }
        slots = rest;
        let needed = rest.iter().filter(|slot| slot.count == SlotCount::One).count();
        match slot.count {
            SlotCount::Many => {
                while operands.get(open.start).is_some_and(|part| is_assignment(part.text))
                    && open.start < open.end
                {
                    set_role(&mut roles, open.next(), Role::Assignment);
                }
            }
            SlotCount::Optional if open.len() <= needed => {}
            SlotCount::One | SlotCount::Optional => {
                if operands.get(open.start).is_some_and(|part| fits_form(slot.role, part.text)) {
                    set_role(&mut roles, open.next(), slot.role);
                }
            }
        }
    }
    let Some((many, behind)) = slots.split_first() else { return roles };
    for slot in behind.iter().rev() {
        // `cp a`: a single operand is the source.
        if open.len() > 1 || many.inner {
            set_role(&mut roles, open.next_back(), slot.role);
        }
    }
    // Operands that would be a command after `--` are plain text without it.
    let role = if many.inner { Role::Text } else { many.role };
    for at in open {
        set_role(&mut roles, Some(at), role);
    }
    roles
}

pub(super) fn set_role(roles: &mut [Role], at: Option<usize>, role: Role) {
    if let Some(place) = at.and_then(|at| roles.get_mut(at)) {
        *place = role;
    }
}
