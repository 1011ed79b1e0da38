// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outputs of hooks before and after a model request.

use serde_json::{Value, json};

use super::{Boundary, HookOutput};
use crate::switches::Profile;
use crate::{js, translate};

/// `BeforeModelHookOutput` in LLxprt's hook documentation (seed 002 in `docs/seeds.md`).
#[derive(Debug, Clone, Copy)]
pub struct BeforeModelOutput<'a>(pub HookOutput<'a>);

/// `AfterModelHookOutput` in LLxprt's hook documentation.
#[derive(Debug, Clone, Copy)]
pub struct AfterModelOutput<'a>(pub HookOutput<'a>);

impl<'a> BeforeModelOutput<'a> {
    /// The output of a hook before the model request.
    pub fn new(profile: &'a Profile, value: &'a Value) -> Self {
        Self(HookOutput::new(profile, "BeforeModel", value))
    }

    /// A synthetic response, in Gemini's generate-content format.
    pub fn synthetic_response(&self) -> Option<Value> {
        let response = self.0.specific("llm_response").filter(|value| js::is_truthy(value))?;
        Some(translate::from_hook_response(response))
    }

    /// Applies the hook's changes to the original request. Both requests are in Gemini's generate-content format.
    pub fn apply_llm_request_modifications(&self, target: &Value) -> Value {
        match self.0.specific("llm_request").filter(|value| value.is_object()) {
            Some(request) => translate::from_hook_request(self.0.profile, request, Some(target)),
            None => target.clone(),
        }
    }

    /// The boundary that tells LLxprt Code's compression which messages are pending.
    pub fn boundary(&self) -> Boundary {
        Boundary::read(self.0.specific("llm_request_boundary"))
    }
}

impl<'a> AfterModelOutput<'a> {
    /// The output of a hook after the model response.
    pub fn new(profile: &'a Profile, value: &'a Value) -> Self {
        Self(HookOutput::new(profile, "AfterModel", value))
    }

    /// The changed response, in Gemini's generate-content format.
    pub fn modified_response(&self) -> Option<Value> {
        let response = self.0.specific("llm_response").filter(|value| self.counts(value));
        if let Some(response) = response {
            return Some(translate::from_hook_response(response));
        }
        let becomes = self.0.profile.stop_becomes_response && self.0.should_stop_execution();
        becomes.then(|| {
            let parts = [self.0.effective_reason()];
            let content = json!({"role": "model", "parts": parts});
            translate::from_hook_response(
                &json!({"candidates": [{"content": content, "finishReason": "STOP"}]}),
            )
        })
    }

    fn counts(&self, response: &Value) -> bool {
        let Some(content) = response.pointer("/candidates/0").and_then(|first| js::field(first, "content"))
        else {
            return false;
        };
        let parts = content.get("parts").and_then(Value::as_array);
        !self.0.profile.response_needs_parts || parts.is_some_and(|parts| !parts.is_empty())
    }
}
