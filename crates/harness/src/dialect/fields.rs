// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reading a hook's JSON field by field: a field of the wrong type is remembered, not ignored.

use serde_json::{Map, Value};

/// A hook's answer, and what could not be read in it.
pub(super) struct Fields<'a> {
    at: &'static str,
    map: Option<&'a Map<String, Value>>,
    /// The first thing that could not be read.
    pub(super) problem: Option<String>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(map: &'a Map<String, Value>) -> Self {
        Self { at: "", map: Some(map), problem: None }
    }

    /// The fields of an object inside; its problems are handed back with [`Fields::take_over`].
    pub(super) fn inside(&mut self, key: &'static str) -> Fields<'a> {
        Fields { at: key, map: self.object(key), problem: None }
    }

    pub(super) fn take_over(&mut self, inner: Fields<'_>) {
        self.problem = self.problem.take().or(inner.problem);
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.typed(key, "a text", |value| value.as_str().map(ToOwned::to_owned))
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.typed(key, "true or false", Value::as_bool)
    }

    pub(super) fn number(&mut self, key: &str) -> Option<f64> {
        self.typed(key, "a number", Value::as_f64)
    }

    pub(super) fn object(&mut self, key: &str) -> Option<&'a Map<String, Value>> {
        self.typed(key, "an object", Value::as_object)
    }

    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        self.typed(key, "a list of texts", |value| {
            value.as_array()?.iter().map(|item| item.as_str().map(ToOwned::to_owned)).collect()
        })
    }

    /// One of a few words; another one is a problem that names them.
    pub(super) fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let word = self.text(key)?;
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let known: Vec<_> = words.iter().map(|(known, _)| format!("`{known}`")).collect();
            let name = self.name(key);
            self.note(format!("`{name}` is `{word}`; it can be {}", known.join(", ")));
        }
        found
    }

    pub(super) fn note(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }

    /// `null` is the same as absent.
    fn typed<T>(&mut self, key: &str, wanted: &str, read: impl Fn(&'a Value) -> Option<T>) -> Option<T> {
        let value = self.map?.get(key).filter(|value| !value.is_null())?;
        let found = read(value);
        if found.is_none() {
            let name = self.name(key);
            let shown: String = value.to_string().chars().take(60).collect();
            self.note(format!("`{name}` is {shown}; it should be {wanted}"));
        }
        found
    }

    fn name(&self, key: &str) -> String {
        if self.at.is_empty() { key.to_owned() } else { format!("{}.{key}", self.at) }
    }
}

/// What a tool returned as one text, whichever harness shaped it.
pub(super) fn output_text(output: &Value) -> String {
    let part = |key: &str| output.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    match output {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        _ => match (part("llmContent").or_else(|| part("stdout")).or_else(|| part("output")), part("stderr"))
        {
            (None, None) => output.to_string(),
            (stdout, stderr) => [stdout, stderr].into_iter().flatten().collect::<Vec<_>>().join("\n"),
        },
    }
}
