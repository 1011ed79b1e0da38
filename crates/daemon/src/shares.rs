// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Divides a bounded resource into fair shares.
//!
//! A holder may take more units only while it has no more than the number of units that are left. One busy holder gets
//! half of the resource, two get a third each, and something is always left for a holder that has nothing yet.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A bounded resource, and how much of it each holder has.
#[derive(Debug)]
pub(crate) struct Shares<K> {
    total: usize,
    held: Mutex<HeldUnits<K>>,
}

#[derive(Debug)]
struct HeldUnits<K> {
    all: usize,
    by_holder: HashMap<K, usize>,
}

/// Units that one holder has taken. Dropping the share returns them.
#[derive(Debug)]
pub(crate) struct Share<K: Eq + Hash> {
    shares: Arc<Shares<K>>,
    holder: K,
    amount: usize,
}

/// Whether a holder that has `own` of the `all` units in use may take `amount` more out of `total`.
pub(crate) fn is_fair(own: usize, all: usize, amount: usize, total: usize) -> bool {
    let left = total.saturating_sub(all).checked_sub(amount);
    left.is_some_and(|left| own.saturating_add(amount) <= left)
}

impl<K: Clone + Eq + Hash> Shares<K> {
    /// Creates a resource of `total` units; a single holder gets half of them.
    pub(crate) fn new(total: usize) -> Arc<Self> {
        let held = HeldUnits { all: 0, by_holder: HashMap::new() };
        Arc::new(Self { total, held: Mutex::new(held) })
    }

    /// Takes `amount` units, if that leaves enough for others.
    pub(crate) fn try_take(self: &Arc<Self>, holder: K, amount: usize) -> Option<Share<K>> {
        self.try_take_counted(holder, amount).map(|(share, _)| share)
    }

    /// Takes `amount` units; also returns the number of units in use afterwards.
    pub(crate) fn try_take_counted(self: &Arc<Self>, holder: K, amount: usize) -> Option<(Share<K>, usize)> {
        let mut held = self.lock();
        let own = held.by_holder.get(&holder).copied().unwrap_or(0);
        if !is_fair(own, held.all, amount, self.total) {
            return None;
        }
        held.all += amount;
        held.by_holder.insert(holder.clone(), own + amount);
        let all = held.all;
        drop(held);
        Some((Share { shares: Arc::clone(self), holder, amount }, all))
    }

    pub(crate) fn in_use(&self) -> usize {
        self.lock().all
    }
}

impl<K> Shares<K> {
    fn lock(&self) -> MutexGuard<'_, HeldUnits<K>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> Share<K> {
    /// Takes `amount` more units, if that leaves enough for others.
    pub(crate) fn try_grow(&mut self, amount: usize) -> bool {
        let mut held = self.shares.lock();
        // A missing entry means that the holder has nothing yet: the entry is removed with the last unit.
        let own = held.by_holder.get(&self.holder).copied().unwrap_or(0);
        if !is_fair(own, held.all, amount, self.shares.total) {
            return false;
        }
        held.all += amount;
        held.by_holder.insert(self.holder.clone(), own + amount);
        drop(held);
        self.amount += amount;
        true
    }
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut held = self.shares.lock();
        held.all = held.all.saturating_sub(self.amount);
        if let Some(own) = held.by_holder.get_mut(&self.holder) {
            *own = own.saturating_sub(self.amount);
            if *own == 0 {
                held.by_holder.remove(&self.holder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(shares: &Arc<Shares<&'static str>>, holder: &'static str) -> Vec<Share<&'static str>> {
        std::iter::from_fn(|| shares.try_take(holder, 1)).collect()
    }

    #[test]
    fn an_empty_share_grows_after_another_share_of_its_holder_is_given_back() {
        let shares = Shares::new(100);
        let (mut empty, other) = (shares.try_take("a", 0).unwrap(), shares.try_take("a", 1).unwrap());
        drop(other);
        assert!(empty.try_grow(10));
        assert_eq!(shares.in_use(), 10);
        drop(empty);
        assert_eq!(shares.in_use(), 0);
    }

    #[test]
    fn one_holder_gets_half_and_every_newcomer_gets_something() {
        let shares = Shares::new(100);
        let first = take_all(&shares, "a");
        assert_eq!(first.len(), 50);
        let second = take_all(&shares, "b");
        assert_eq!(second.len(), 25);
        let third = take_all(&shares, "c");
        assert_eq!(third.len(), 12);
        assert_eq!(shares.in_use(), 87);
        drop(first);
        assert_eq!(take_all(&shares, "c").len(), 25, "what was given back is shared again");
        drop((second, third));
    }

    #[test]
    fn a_share_grows_within_the_same_limit_and_gives_everything_back() {
        let shares = Shares::new(100);
        let mut share = shares.try_take("a", 30).unwrap();
        assert!(!share.try_grow(21) && share.try_grow(20) && !share.try_grow(1));
        assert!(shares.try_take("b", usize::MAX).is_none());
        drop(share);
        assert_eq!(shares.in_use(), 0);
        assert!(shares.lock().by_holder.is_empty());
    }
}
