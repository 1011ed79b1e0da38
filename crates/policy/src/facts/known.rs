// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which names a table has: a few bytes to look at before the table, which is many times as large and has
//! nothing to say about most programs.

use crate::fnv;

/// How many bits there are.
const BITS: usize = 4096;

/// Names, each by two bits. One that is not among them may seem to be; one that is never seems not to be.
pub(super) struct Known([u64; BITS / 64]);

/// The names of a table, put together by the compiler: from a field that lists them, or `[from one]`.
macro_rules! known {
    ($table:expr, [$name:ident]) => {
        $crate::facts::known::known!(@ $table, at, &[$table[at].$name])
    };
    ($table:expr, $names:ident) => {
        $crate::facts::known::known!(@ $table, at, $table[at].$names)
    };
    (@ $table:expr, $at:ident, $names:expr) => {{
        #[expect(clippy::indexing_slicing, reason = "the compiler runs this, and would say so")]
        const KNOWN: $crate::facts::known::Known = {
            let (mut known, mut $at) = ($crate::facts::known::Known::none(), 0);
            while $at < $table.len() {
                known = known.with($names);
                $at += 1;
            }
            known
        };
        static STATIC: $crate::facts::known::Known = KNOWN;
        &STATIC
    }};
}
pub(super) use known;

impl Known {
    pub(super) const fn none() -> Self {
        Self([0; BITS / 64])
    }

    #[expect(clippy::indexing_slicing, reason = "the compiler runs this, and would say so")]
    pub(super) const fn with(mut self, names: &[&str]) -> Self {
        let mut at = 0;
        while at < names.len() {
            let (one, other) = bits(names[at]);
            self.0[one / 64] |= 1 << (one % 64);
            self.0[other / 64] |= 1 << (other % 64);
            at += 1;
        }
        self
    }

    /// Whether the table may have the name.
    pub(super) fn may_have(&self, name: &str) -> bool {
        let has = |bit: usize| self.0.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1);
        let (one, other) = bits(name);
        has(one) && has(other)
    }
}

/// The two bits of a name.
const fn bits(name: &str) -> (usize, usize) {
    let hash = fnv::hash(fnv::START, name.as_bytes());
    ((hash >> 16) as usize % BITS, (hash >> 40) as usize % BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_table_has_is_known_and_most_else_is_not() {
        let (some, more): (&[&str], &[&str]) = (&["rm", "unlink"], &["mkfs.ext4"]);
        let known = Known::none().with(some).with(&[]).with(more);
        assert!(some.iter().chain(more).all(|name| known.may_have(name)));
        let others = (0..1_000).filter(|number| known.may_have(&format!("program-{number}"))).count();
        assert!(others < 10, "{others}");
        assert!(!known.may_have(""));
    }
}
