// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the cases of the area `translator`.

use serde_json::json;

use super::{Case, has, profile};
use crate::output::{AfterModelOutput, BeforeModelOutput, Boundary, OnInvalid};
use crate::translate;

pub(super) fn translated(case: &Case) {
    let (profile, id, given) = (profile(case), case.id(), &case.0["given"]);
    let base = given.get("base").filter(|base| !base.is_null());
    let actual = match given["dir"].as_str().unwrap() {
        "toHookLLMRequest" => translate::to_hook_request(profile, &given["sdk"]),
        "fromHookLLMRequest" => translate::from_hook_request(profile, &given["hook"], base),
        "toHookLLMResponse" => translate::to_hook_response(&given["sdk"]),
        "fromHookLLMResponse" => translate::from_hook_response(&given["hook"]),
        "toHookToolConfig" => translate::to_hook_tool_config(&given["sdk"]),
        "fromHookToolConfig" => translate::from_hook_tool_config(&given["hook"]),
        "boundary" => {
            let output = json!({"hookSpecificOutput": {"llm_request_boundary": given["value"]}});
            let boundary = BeforeModelOutput::new(profile, &output).boundary();
            assert_eq!(boundary, Boundary::Malformed { on_invalid: OnInvalid::SkipCompression }, "{id}");
            return;
        }
        "AfterModel.getModifiedResponse" => {
            let output = json!({"hookSpecificOutput": {"llm_response": given["hook"]}});
            json!({"modified": AfterModelOutput::new(profile, &output).modified_response()})
        }
        dir => panic!("{id}: what is `{dir}`?"),
    };
    for (key, expected) in case.expect() {
        let found = match key {
            "hook" => actual.clone(),
            "throws" => json!(false),
            "contents_len" => json!(actual["contents"].as_array().unwrap().len()),
            "last_text" => actual["contents"].as_array().unwrap().last().unwrap()["parts"][0]["text"].clone(),
            path => actual.pointer(&format!("/{}", path.replace('.', "/"))).cloned().unwrap_or_default(),
        };
        // Lists must be equal, because an expected request is complete.
        assert!(has(&found, expected), "{id}: `{key}` is {found}");
    }
}
