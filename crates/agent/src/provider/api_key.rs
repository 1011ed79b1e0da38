// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The API key of a model provider. The key is sent in one header and used nowhere else.

use std::fmt;

/// An API key. `Debug` does not show it, and it is redacted from server messages.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Creates a key from the trimmed string. Returns `None` if nothing is left after trimming.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// Returns the key in plain text, for the request header.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Redacts the key in a string, because servers may repeat the key in error messages.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = ApiKey::new(" sk-secret\n").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(…)");
        assert_eq!(key.redact("bad key: sk-secret!"), "bad key: [key]!");
        assert_eq!(key.reveal(), "sk-secret");
        assert_eq!(ApiKey::new(" \n"), None);
    }
}
