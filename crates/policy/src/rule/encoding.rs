// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes parts of a rule that are stored as text in the compiled form.

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tenterhook_event::Event;
use tenterhook_when::{When, WhenError};

/// A condition in CEL that is compiled when it is first needed.
pub(crate) struct LazyWhen {
    text: String,
    built: OnceLock<Result<When, WhenError>>,
}

impl LazyWhen {
    /// Wraps a compiled condition that was read from a rule file.
    pub(crate) fn new(when: When) -> Self {
        Self { text: when.text().to_owned(), built: OnceLock::from(Ok(when)) }
    }

    /// Whether the condition is true for an event.
    pub(crate) fn holds(&self, event: &Event) -> Result<bool, WhenError> {
        match self.built.get_or_init(|| When::compile(&self.text)) {
            Ok(when) => when.holds(event),
            Err(error) => Err(error.clone()),
        }
    }
}

impl Serialize for LazyWhen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LazyWhen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self { text, built: OnceLock::new() })
    }
}

impl fmt::Debug for LazyWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("When").field(&self.text).finish()
    }
}

/// Encodes an `Arc<str>` as text.
pub(super) mod shared_text {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::rule) fn serialize<S: Serializer>(
        text: &Arc<str>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        text.as_ref().serialize(serializer)
    }

    pub(in crate::rule) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<str>, D::Error> {
        <&str>::deserialize(deserializer).map(Arc::from)
    }
}

/// Encodes a JSON object as text: postcard cannot decode values whose type is not known in advance.
pub(super) mod json_text {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::{Map, Value};

    pub(in crate::rule) fn serialize<S: Serializer>(
        object: &Map<String, Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = serde_json::to_string(object).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }

    pub(in crate::rule) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Map<String, Value>, D::Error> {
        serde_json::from_str(<&str>::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
