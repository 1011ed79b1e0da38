// SPDX-License-Identifier: Apache-2.0 OR MIT

//! JavaScript semantics that are visible in the results of the harnesses.
//!
//! No harness checks the types of a hook's output. So a number as a reason, or `1` for `suppressOutput`, has the
//! meaning that JavaScript gives it.

use serde_json::{Map, Value};

/// Whether JavaScript's `if (value)` treats the value as true.
pub(crate) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(bool) => *bool,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// JavaScript's `String(value)`.
pub(crate) fn to_js_string(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(to_js_string).collect::<Vec<_>>().join(","),
        Value::Object(_) => "[object Object]".to_owned(),
        other => other.to_string(),
    }
}

/// JavaScript's `value[key]`, if it is truthy.
pub(crate) fn field<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|value| is_truthy(value))
}

/// JavaScript's `value[key]` as text, if it is truthy.
pub(crate) fn text(value: &Value, key: &str) -> Option<String> {
    field(value, key).map(to_js_string)
}

/// JavaScript's `{...target, ...value}`.
pub(crate) fn spread(target: &mut Map<String, Value>, value: &Value) {
    match value {
        Value::Object(map) => target.extend(map.clone()),
        Value::Array(items) => {
            target.extend(items.iter().enumerate().map(|(at, item)| (at.to_string(), item.clone())));
        }
        Value::String(text) => {
            target
                .extend(text.chars().enumerate().map(|(at, char)| (at.to_string(), char.to_string().into())));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn truth_and_text_are_javascripts() {
        for value in [json!(null), json!(false), json!(0), json!("")] {
            assert!(!is_truthy(&value), "{value}");
        }
        for value in [json!([]), json!({}), json!("0"), json!(-1)] {
            assert!(is_truthy(&value), "{value}");
        }
        assert_eq!(to_js_string(&json!([1, {"a": 1}, "x"])), "1,[object Object],x");
    }
}
