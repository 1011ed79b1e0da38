// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sets of leaf numbers, stored as ranges.

/// Leaf numbers as sorted, disjoint ranges with both ends included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeafRanges(Vec<(u64, u64)>);

impl LeafRanges {
    /// Adds a number greater than all numbers in the set.
    pub(crate) fn push(&mut self, seq: u64) {
        match self.0.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(seq) => *end = seq,
            _ => self.0.push((seq, seq)),
        }
    }

    /// Adds a range, which may overlap others.
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

    pub(crate) fn extend(&mut self, other: &Self) {
        other.0.iter().for_each(|(from, to)| self.add(*from, *to));
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|(from, to)| to - from + 1).sum()
    }

    /// Returns the first number in this set that is not in the other set.
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
        let (mut missing, mut covered) = (LeafRanges::default(), LeafRanges::default());
        for seq in [3, 4, 5, 9] {
            missing.push(seq);
        }
        assert_eq!((missing.count(), missing.first_outside(&covered)), (4, Some(3)));
        covered.add(9, 9);
        covered.add(0, 4);
        assert_eq!(missing.first_outside(&covered), Some(5));
        covered.add(5, 6);
        assert_eq!(missing.first_outside(&covered), None);
        assert_eq!(covered, LeafRanges(vec![(0, 6), (9, 9)]));
    }
}
