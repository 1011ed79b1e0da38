// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One value or a non-empty list of values.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

/// Maximum nesting depth of conditions, which nest only through lists. Neither a rule file nor damaged bytes may
/// exhaust the stack.
const MAX_NESTING_DEPTH: usize = 32;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// One value or a list of values. An empty list is refused, because it would match nothing.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct OneOrMore<T>(pub(crate) Vec<T>);

/// Returns the values of a condition; empty if it is not given.
pub(crate) fn values<T>(list: Option<&OneOrMore<T>>) -> &[T] {
    list.map_or(&[], |list| &list.0)
}

// Implemented by hand: serde's `untagged` would lose the position of a value with the wrong type.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let depth = DEPTH.get();
        if depth == MAX_NESTING_DEPTH {
            return Err(de::Error::custom("conditions are nested too deeply"));
        }
        DEPTH.set(depth + 1);
        let list = if deserializer.is_human_readable() {
            deserializer.deserialize_any(OneOrMoreVisitor(PhantomData))
        } else {
            // The compiled form always stores a list.
            Vec::deserialize(deserializer)
        };
        DEPTH.set(depth);
        list.map(Self)
    }
}

struct OneOrMoreVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMoreVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value or a list of them")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<T>, E> {
        T::deserialize(text.into_deserializer()).map(|one| vec![one])
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Vec<T>, E> {
        // `option: 1` means the option `-1`; `port: 22` means the port.
        T::deserialize(number.into_deserializer())
            .or_else(|_: E| T::deserialize(number.to_string().into_deserializer()))
            .map(|one| vec![one])
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Vec<T>, E> {
        let number = i64::try_from(number).map_err(|_| E::custom("the number is too large"))?;
        self.visit_i64(number)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(map)).map(|one| vec![one])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        if list.is_empty() {
            return Err(de::Error::custom("an empty list matches nothing"));
        }
        Ok(list)
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for OneOrMore<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("OneOrMore_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = generator.subschema_for::<T>();
        schemars::json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}

/// Implements the schema of a type that is written as one string or a list of strings.
#[cfg(feature = "schema")]
macro_rules! schema_of_texts {
    ($($name:ty),*) => {$(
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $crate::conditions::OneOrMore::<String>::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::conditions::OneOrMore::<String>::json_schema(generator)
            }
        }
    )*};
}
#[cfg(feature = "schema")]
pub(crate) use schema_of_texts;
