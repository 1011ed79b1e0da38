// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Implements a list that stores a single element without a heap allocation.

use std::ops::Deref;

/// A list optimized for one element: most words have one part, and most pipelines one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SmallList<T> {
    /// Exactly one element.
    One(T),
    /// Any number of elements.
    Many(Vec<T>),
}

impl<T> SmallList<T> {
    /// Appends an element.
    pub fn push(&mut self, element: T) {
        match self {
            Self::Many(all) if all.is_empty() => *self = Self::One(element),
            Self::Many(all) => all.push(element),
            Self::One(_) => {
                if let Self::One(first) = std::mem::take(self) {
                    let mut all = Vec::with_capacity(4);
                    all.push(first);
                    all.push(element);
                    *self = Self::Many(all);
                }
            }
        }
    }

    /// Returns the elements as a slice.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(only) => std::slice::from_ref(only),
            Self::Many(all) => all,
        }
    }

    /// Returns the elements as a vector.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(only) => vec![only],
            Self::Many(all) => all,
        }
    }

    /// Returns the last element, mutably.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::One(only) => Some(only),
            Self::Many(all) => all.last_mut(),
        }
    }
}

impl<T> Default for SmallList<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T> Deref for SmallList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T> From<Vec<T>> for SmallList<T> {
    fn from(mut all: Vec<T>) -> Self {
        match all.len() {
            1 => all.pop().map_or_else(Self::default, Self::One),
            _ => Self::Many(all),
        }
    }
}

impl<'a, T> IntoIterator for &'a SmallList<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}
