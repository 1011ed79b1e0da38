// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a hook's JSON output field by field, and remembers fields of the wrong type.

use serde_json::{Map, Value};

/// Reads the fields of a JSON object and keeps the first problem found.
pub(super) struct FieldReader<'a> {
    at: &'static str,
    map: Option<&'a Map<String, Value>>,
    /// First problem found.
    pub(super) problem: Option<String>,
}

impl<'a> FieldReader<'a> {
    pub(super) fn new(map: &'a Map<String, Value>) -> Self {
        Self { at: "", map: Some(map), problem: None }
    }

    /// Returns a reader for a nested object. [`FieldReader::take_over`] passes the nested reader's problem to the
    /// outer reader.
    pub(super) fn inside(&mut self, key: &'static str) -> FieldReader<'a> {
        FieldReader { at: key, map: self.object(key), problem: None }
    }

    pub(super) fn take_over(&mut self, inner: FieldReader<'_>) {
        self.problem = self.problem.take().or(inner.problem);
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.typed(key, "a string", |value| value.as_str().map(ToOwned::to_owned))
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
        self.typed(key, "a list of strings", |value| {
            value.as_array()?.iter().map(|item| item.as_str().map(ToOwned::to_owned)).collect()
        })
    }

    /// Reads one of a few keywords. Any other value is a problem.
    pub(super) fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let word = self.text(key)?;
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let known: Vec<_> = words.iter().map(|(known, _)| format!("`{known}`")).collect();
            let name = self.name(key);
            self.note(format!("`{name}` is `{word}`; expected one of {}", known.join(", ")));
        }
        found
    }

    pub(super) fn note(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }

    /// Reads a value of one type; `null` is treated as absent.
    fn typed<T>(&mut self, key: &str, wanted: &str, read: impl Fn(&'a Value) -> Option<T>) -> Option<T> {
        let value = self.map?.get(key).filter(|value| !value.is_null())?;
        let found = read(value);
        if found.is_none() {
            let name = self.name(key);
            let shown: String = value.to_string().chars().take(60).collect();
            self.note(format!("`{name}` is {shown}; expected {wanted}"));
        }
        found
    }

    fn name(&self, key: &str) -> String {
        if self.at.is_empty() { key.to_owned() } else { format!("{}.{key}", self.at) }
    }
}

/// Returns a tool's output as one string. Accepts the output formats of all harnesses.
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
