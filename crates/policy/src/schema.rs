// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The JSON Schema of the rule file, for editors and for the reference.

/// Returns the JSON Schema of the rule file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(crate::load::wire::RuleFileSpec).to_value()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_describes_every_key() {
        let schema = super::schema();
        let rule = &schema["$defs"]["Rule"]["properties"];
        for key in ["id", "match", "verdict", "unparsed", "examples", "nudge"] {
            assert!(rule[key].is_object(), "{key} in {schema:#}");
        }
        assert!(schema["$defs"]["Shell"]["properties"]["pipes_into"]["description"].is_string());
    }
}
