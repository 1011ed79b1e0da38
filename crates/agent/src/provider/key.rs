// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The key to a model. It goes into one header and nowhere else.

use std::fmt;

/// A key. It is never shown: not by `Debug`, and not in what a server says back.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// As it was given, without the blanks that come from copying. None if nothing is left.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// For the header.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// A text in which the key cannot be read, should somebody have repeated it.
    pub(super) fn hide(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = Key::new(" sk-secret\n").unwrap();
        assert_eq!(format!("{key:?}"), "Key(…)");
        assert_eq!(key.hide("bad key: sk-secret!"), "bad key: [key]!");
        assert_eq!(key.reveal(), "sk-secret");
        assert_eq!(Key::new(" \n"), None);
    }
}
