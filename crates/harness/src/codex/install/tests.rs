// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

#[test]
fn the_digest_is_that_of_the_sorted_definition() {
    let identity = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"x 'y'","timeout":60,"type":"command"}],"matcher":"*"}"#;
    let ours = hash("pre_tool_use", Some("*"), "x 'y'", 60);
    let bytes = Sha256::digest(identity.as_bytes());
    let hex =
        |at: usize| u8::from_str_radix(&ours["sha256:".len() + 2 * at..][..2], 16).expect("hexadecimal");
    assert_eq!(bytes.iter().copied().collect::<Vec<_>>(), (0..32).map(hex).collect::<Vec<_>>());
    assert_eq!(ours.len(), "sha256:".len() + 64);
    assert_ne!(hash("stop", None, "x", 60), hash("stop", None, "x", 61));
}
