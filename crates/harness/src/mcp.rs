// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the URL of an MCP server in a harness's metadata and stores it as `tool.args.url`.

use serde_json::{Map, Value};
use tenterhook_event::{ToolCall, ToolClass};

const URL_KEYS: [&str; 5] = ["url", "server_url", "mcp_server_url", "transport_url", "base_url"];

/// Sets `tool.args.url` of an MCP call that has no URL yet. The first URL found is used, in this order: the
/// arguments, the harness's metadata about the server, the payload's top-level fields. Keys are tried in the order of
/// the table, so the result does not depend on the order of the payload.
pub fn fill_url(tool: &mut ToolCall, server: Option<&Value>, payload: &Map<String, Value>) {
    if tool.class != ToolClass::Mcp || as_http_url(tool.args.get("url")).is_some() {
        return;
    }
    let found = search_url(&tool.args).or_else(|| search_url(server?)).or_else(|| direct_url(payload));
    let found = found.map(ToOwned::to_owned);
    if let (Some(url), Value::Object(args)) = (found, &mut tool.args) {
        args.insert("url".to_owned(), Value::String(url));
    }
}

/// Removes a URL that [`fill_url`] added, so that a rewritten input has no argument that is unknown to the tool.
/// `judged` contains the arguments with the added URL, `native` the arguments without it.
pub(crate) fn without_filled_url(input: &Value, judged: &Value, native: &Value) -> Value {
    let mut input = input.clone();
    let filled = native.get("url").is_none() && input.get("url") == judged.get("url");
    if let (true, Value::Object(args)) = (filled, &mut input) {
        args.remove("url");
    }
    input
}

fn search_url(value: &Value) -> Option<&str> {
    let Value::Object(fields) = value else { return None };
    direct_url(fields).or_else(|| fields.values().find_map(search_url))
}

fn direct_url(fields: &Map<String, Value>) -> Option<&str> {
    URL_KEYS.iter().find_map(|key| as_http_url(fields.get(*key)))
}

fn as_http_url(value: Option<&Value>) -> Option<&str> {
    let url = value?.as_str()?;
    let scheme = url.split_once("://")?.0;
    (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn url_of(name: &str, args: Value, server: Option<&Value>) -> Option<String> {
        let mut tool = ToolCall::new(name, args);
        let payload =
            json!({"base_url": "https://last.example", "tool_response": {"url": "https://no.example"}});
        fill_url(&mut tool, server, payload.as_object().unwrap());
        tool.args.get("url").and_then(Value::as_str).map(ToOwned::to_owned)
    }

    // seed: 001-050, 001-051, 001-052
    #[test]
    fn metadata_becomes_the_url_and_a_native_url_wins() {
        let name = "mcp__remote__query";
        let found = url_of(name, json!({"server_url": "https://bad.example.net/mcp"}), None);
        assert_eq!(found.as_deref(), Some("https://bad.example.net/mcp"));
        for key in URL_KEYS {
            let found = url_of(name, json!({key: "https://named.example/mcp"}), None);
            assert_eq!(found.as_deref(), Some("https://named.example/mcp"), "{key}");
        }
        assert_eq!(URL_KEYS, ["url", "server_url", "mcp_server_url", "transport_url", "base_url"]);
        let native = json!({"url": "https://api.example.org/v1", "server_url": "https://bad.example.net"});
        assert_eq!(url_of(name, native, None).as_deref(), Some("https://api.example.org/v1"));
        let beside = json!({"transport": {"base_url": "http://b.example"}});
        assert_eq!(url_of(name, json!({}), Some(&beside)).as_deref(), Some("http://b.example"));
        assert_eq!(url_of(name, json!({}), None).as_deref(), Some("https://last.example"));
    }

    #[test]
    fn what_is_not_http_or_not_mcp_is_left_alone() {
        let ftp = url_of("mcp__x__y", json!({"server_url": "ftp://x"}), None);
        assert_eq!(ftp.as_deref(), Some("https://last.example"));
        assert_eq!(url_of("WebFetch", json!({"server_url": "https://x"}), None), None);
    }

    #[test]
    fn a_rewritten_input_has_no_url_the_tool_did_not_have() {
        let native = json!({"q": 1});
        let judged = json!({"q": 1, "url": "https://x"});
        let rewritten = json!({"q": 2, "url": "https://x"});
        assert_eq!(without_filled_url(&rewritten, &judged, &native), json!({"q": 2}));
        let chosen = json!({"q": 2, "url": "https://chosen"});
        assert_eq!(without_filled_url(&chosen, &judged, &native), chosen);
        assert_eq!(without_filled_url(&judged, &judged, &judged), judged);
    }
}
