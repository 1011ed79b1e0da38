// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

#[test]
fn the_digest_is_that_of_the_sorted_definition() {
    let identity = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"x 'y'","timeout":60,"type":"command"}],"matcher":"*"}"#;
    let ours = hash("pre_tool_use", Some("*"), "x 'y'", 60);
    let digest = Sha256::digest(identity.as_bytes());
    let expected = digest.iter().fold("sha256:".to_owned(), |hex, byte| format!("{hex}{byte:02x}"));
    assert_eq!(ours, expected);
    assert_ne!(hash("stop", None, "x", 60), hash("stop", None, "x", 61));
}
