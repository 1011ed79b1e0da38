// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sets of leaves that mostly lie side by side.

/// Sorted, disjoint, both ends included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds a leaf behind all others.
    pub(crate) fn push(&mut self, seq: u64) {
        match self.0.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(seq) => *end = seq,
            _ => self.0.push((seq, seq)),
        }
    }

    /// Adds leaves anywhere.
    pub(crate) fn add(&mut self, from: u64, to: u64) {
        self.0.push((from, to));
        self.0.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::with_capacity(self.0.len());
        for (from, to) in self.0.drain(..) {
            match merged.last_mut() {
                Some((_, end)) if from <= end.saturating_add(1) => *end = to.max(*end),
                _ => merged.push((from, to)),
            }
        }
        self.0 = merged;
    }

    /// Adds all of another set.
    pub(crate) fn extend(&mut self, other: &Self) {
        other.0.iter().for_each(|(from, to)| self.add(*from, *to));
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|(from, to)| to - from + 1).sum()
    }

    /// The first of these that the other set does not have.
    pub(crate) fn first_outside(&self, other: &Self) -> Option<u64> {
        self.0.iter().find_map(|(from, to)| {
            let covering = other.0.iter().find(|(start, end)| start <= from && from <= end);
            match covering {
                None => Some(*from),
                Some((_, end)) if end < to => Some(end + 1),
                Some(_) => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_covered_is_found() {
        let (mut gone, mut said) = (Ranges::default(), Ranges::default());
        for seq in [3, 4, 5, 9] {
            gone.push(seq);
        }
        assert_eq!((gone.count(), gone.first_outside(&said)), (4, Some(3)));
        said.add(9, 9);
        said.add(0, 4);
        assert_eq!(gone.first_outside(&said), Some(5));
        said.add(5, 6);
        assert_eq!(gone.first_outside(&said), None);
        assert_eq!(said, Ranges(vec![(0, 6), (9, 9)]));
    }
}
