// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A pseudo-random generator: the same seed makes the same choices.

/// A pseudo-random number generator (xorshift64).
#[derive(Debug, Clone)]
pub struct RandomChoices(u64);

impl RandomChoices {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = end.max(1) as u64;
        usize::try_from((self.next_number() >> 11) % end).unwrap_or(0)
    }

    /// One of these choices.
    pub fn choose<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> Option<&'a T> {
        choices.get(self.below(choices.len())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_choices() {
        let draw = |seed| {
            let mut random = RandomChoices::new(seed);
            std::iter::repeat_with(move || random.below(1000)).take(20).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
