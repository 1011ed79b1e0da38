// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tool calls that read Tenterhook's own secrets: with them an agent could compute codes, call the API or forge records.

use super::verdicts::with_verdict;

#[test]
fn tenterhook_s_own_secrets_are_not_read() {
    let denied = [
        "cat ~/.local/state/tenterhook/totp",
        "base64 ~/.local/state/tenterhook/run/token",
        "cp ~/.local/state/tenterhook/ledger/key /tmp/key",
        "xxd ~/.local/state/tenterhook/ledger/redaction.key",
        "cat ~/.local/state/tenterhook/undo/01/pack-0",
        "cp -r ~/.local/state/tenterhook/undo /tmp/saved",
    ];
    assert_eq!(with_verdict(&denied, &["none", "allow", "ask"]), Vec::<&str>::new());
    let fine = ["ls ~/.local/state/tenterhook", "tenterhook undo list", "tenterhook ledger verify"];
    assert_eq!(with_verdict(&fine, &["ask", "deny"]), Vec::<&str>::new());
}
