// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Predicted argument lists, and their comparison with those that bash recorded.

use tenterhook_shell::expand::Field;

/// The predicted argument list of a program.
#[derive(Debug)]
pub(super) struct PredictedArgs {
    pub(super) fields: Vec<Field>,
    pub(super) count_known: bool,
}

impl PredictedArgs {
    pub(super) fn is_unknown(&self) -> bool {
        !self.fields.iter().all(Field::is_known)
    }

    /// Whether bash may have recorded these arguments. Patterns stay as they are, because no file matches in
    /// an empty directory.
    pub(super) fn fits(&self, recorded: &[String]) -> bool {
        let is_same = |field: &Field, text: &String| {
            if field.is_known() { field.render("") == *text } else { true }
        };
        if !self.is_unknown() || self.count_known {
            return self.fields.len() == recorded.len()
                && self.fields.iter().zip(recorded).all(|(field, text)| is_same(field, text));
        }
        // The number of arguments is unknown; the known ones must occur in order.
        let mut texts = recorded.iter();
        let first = self.fields.first().is_some_and(Field::is_known);
        (!first || self.fields.first().map(|field| field.render("")) == recorded.first().cloned())
            && self
                .fields
                .iter()
                .filter(|field| field.is_known())
                .all(|field| texts.any(|text| field.render("") == *text))
    }
}
