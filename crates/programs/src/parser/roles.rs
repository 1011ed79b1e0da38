// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Roles of operands by their position.

use crate::format::record::{Count, Slot};
use crate::format::role::Role;
use crate::parsed::WordPart;

/// Whether a word with this role tells an interpreter what to do, so that it runs nothing else.
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
            !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        })
}

/// Whether a word is the method of a request: `GET`.
fn is_method(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Whether a word is a whole number: `0`, `-5`.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a slot takes only words of a certain form, and this is one.
fn fits_form(role: Role, text: &str) -> bool {
    match role {
        Role::Method => is_method(text),
        Role::Number => is_number(text),
        _ => true,
    }
}

/// Gives every operand the role of its position. Positions behind one that takes any number are counted
/// from the end.
pub(super) fn assign_roles(slots: &[Slot], operands: &[WordPart<'_>]) -> Vec<Role> {
    let mut roles = vec![Role::Text; operands.len()];
    let mut open = 0..operands.len();
    let mut slots = slots;
    while let Some((slot, rest)) = slots.split_first() {
        if slot.count == Count::Many && slot.role != Role::Assignment {
            break;
        }
        slots = rest;
        let needed = rest.iter().filter(|slot| slot.count == Count::One).count();
        match slot.count {
            Count::Many => {
                while operands.get(open.start).is_some_and(|part| is_assignment(part.text))
                    && open.start < open.end
                {
                    set_role(&mut roles, open.next(), Role::Assignment);
                }
            }
            Count::Optional if open.len() <= needed => {}
            Count::One | Count::Optional => {
                if operands.get(open.start).is_some_and(|part| fits_form(slot.role, part.text)) {
                    set_role(&mut roles, open.next(), slot.role);
                }
            }
        }
    }
    let Some((many, behind)) = slots.split_first() else { return roles };
    for slot in behind.iter().rev() {
        // `cp a`: the one operand is the source.
        if open.len() > 1 || many.inner {
            set_role(&mut roles, open.next_back(), slot.role);
        }
    }
    // Operands that could begin a command but do not, for want of `--`, have no meaning of their own.
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
