// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Removes secrets from identifiers. A session id is a key in files, lists and logs, so a secret in it is
//! replaced as soon as the event is decoded. The placeholder contains a keyed digest, so all records of a
//! session still have the same id.

use tenterhook_event::Event;
use tenterhook_ledger::{RedactionKey, secrets_in_identifier};

use crate::secrets;

/// Whether an identifier of the event contains a secret.
pub fn has_secret_identifier(event: &mut Event) -> bool {
    identifiers(event).into_iter().any(|text| is_secret_identifier(text))
}

/// Replaces each secret in the identifiers of an event with its placeholder. The tool's name is not changed,
/// because rules match it; it is redacted where it is recorded or shown.
pub fn redact_identifiers(event: &mut Event, key: &RedactionKey) {
    for text in identifiers(event) {
        redact_identifier(text, key);
    }
}

/// Whether an identifier contains a secret.
pub fn is_secret_identifier(text: &str) -> bool {
    !secrets_in_identifier(text, &secrets).is_empty()
}

/// Replaces each secret in an identifier with its placeholder.
pub fn redact_identifier(text: &mut String, key: &RedactionKey) {
    let found = secrets_in_identifier(text, &secrets);
    if !found.is_empty() {
        let (clean, _) = key.redact(text, &found);
        *text = clean;
    }
}

fn identifiers(event: &mut Event) -> Vec<&mut String> {
    let agent = &mut event.agent;
    let optional = [
        &mut event.harness_session_id,
        &mut event.turn_id,
        &mut event.tool_use_id,
        &mut agent.model,
        &mut agent.id,
        &mut agent.kind,
        &mut agent.parent,
    ];
    let mut all = vec![&mut event.source, &mut event.native_event];
    all.extend(optional.into_iter().flatten());
    all
}

#[cfg(test)]
mod tests {
    use tenterhook_event::{EventId, EventKind, Timestamp};

    use super::*;

    #[test]
    fn equal_secrets_in_identifiers_have_equal_marks() {
        let token = "glpat-03aB3dE5gH7jK9mN1pQ3";
        let event = |session: &str| {
            let (id, ts) = (EventId::from_parts(1, 2), Timestamp::from_unix_ms(1));
            let mut event = Event::new(id, ts, "codex", EventKind::PreTool, "PreToolUse");
            event.harness_session_id = Some(session.to_owned());
            event.agent.kind = Some(session.to_owned());
            event
        };
        let key = RedactionKey::new([7; 32]);
        let (mut one, mut other, mut plain) =
            (event(&format!("s-{token}")), event(&format!("s-{token}")), event("s"));
        assert!(has_secret_identifier(&mut one) && !has_secret_identifier(&mut plain));
        redact_identifiers(&mut one, &key);
        redact_identifiers(&mut other, &key);
        let text = serde_json::to_string(&one).unwrap();
        assert!(!text.contains(token) && text.contains("s-[[redacted:"), "{text}");
        assert_eq!(one, other);
        assert!(!has_secret_identifier(&mut one), "a mark is not a secret");
    }
}
