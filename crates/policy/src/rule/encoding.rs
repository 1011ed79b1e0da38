// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parts of a rule that the compiled form has as text.

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tenterhook_event::Event;
use tenterhook_when::When;

/// A condition in CEL that is built when it is first needed.
pub(crate) struct LazyWhen {
    text: String,
    built: OnceLock<Result<When, String>>,
}

impl LazyWhen {
    /// A condition that was read from a rule file, and so is built.
    pub(crate) fn new(when: When) -> Self {
        Self { text: when.text().to_owned(), built: OnceLock::from(Ok(when)) }
    }

    /// Whether the condition holds for an event, or why that is not known.
    pub(crate) fn holds(&self, event: &Event) -> Result<bool, String> {
        let built = self.built.get_or_init(|| When::compile(&self.text).map_err(|error| error.to_string()));
        built.as_ref().map_err(Clone::clone)?.holds(event).map_err(|error| error.to_string())
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

/// An `Arc<str>` as a text.
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

/// A JSON object as a text: its values need a format that says what they are.
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
