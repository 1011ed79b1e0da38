// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests failures: the number of attempts is limited, messages are clear, and no text is lost or reported twice.

use std::time::Instant;
use tenterhook_test_support::{HANG_TIMEOUT, assert_no_hang, assert_waited};

use tenterhook_model_server::Fault;

use super::*;

const TEXT: &str = "an answer that is long enough to be cut in the middle of it";

fn status(status: u16, retry_after: Option<u64>, message: &str) -> ModelTurn {
    ModelTurn::default().with_fault(Fault::Status { status, retry_after, message: Some(message.to_owned()) })
}

/// Formats an error without the port.
fn error_text(error: &ProviderError, server: &ModelServer) -> String {
    let hint = error.hint.as_deref().map(|hint| format!(" → {hint}")).unwrap_or_default();
    format!("{:?}: {error}{hint}", error.kind).replace(&server.url(), "URL")
}

/// Returns the number of events before the middle of the text. Anthropic sends extra events at the start.
fn middle(name: &str) -> usize {
    if name == "anthropic" { 4 } else { 2 }
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_keeps_what_came_and_is_not_asked_again() {
    for name in PROVIDER_NAMES {
        let after = middle(name);
        for fault in [Fault::Cut { after }, Fault::Short { after }, Fault::Malformed { after }] {
            let script = ConversationScript::new()
                .turn(ModelTurn::text(TEXT).with_fault(fault.clone()))
                .turn(ModelTurn::text("again"));
            let server = ModelServer::start(script).unwrap();
            let asked = ask(&*provider(name, &server.url()), &request(vec![ChatMessage::user("go")])).await;
            let error = asked.result.as_ref().unwrap_err();
            let partial = error.partial.as_ref().unwrap();
            assert_eq!(partial.text, TEXT.chars().take(32).collect::<String>(), "{name}, {fault:?}");
            assert_eq!(asked.reported_text(), partial.text, "{name}, {fault:?}");
            let kind = if fault == (Fault::Malformed { after }) {
                ProviderErrorKind::Unreadable
            } else {
                ProviderErrorKind::Unavailable
            };
            assert_eq!(error.kind, kind, "{name}, {fault:?}: {error}");
            assert_eq!(server.agent_requests().len(), 1, "{name}, {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_stream_cut_before_its_first_text_is_retried() {
    let script = ConversationScript::new()
        .turn(ModelTurn::text("lost").with_fault(Fault::Cut { after: 0 }))
        .turn(ModelTurn::text("lost").with_fault(Fault::Short { after: 0 }))
        .turn(ModelTurn::text(TEXT));
    for_each_provider(&script, |name, asked, server| {
        assert_eq!(asked.reported_text(), TEXT, "{name}");
        assert_eq!(asked.result.unwrap().text, TEXT, "{name}");
        assert_eq!(server.agent_requests().len(), 3, "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_silent_server_is_left_at_the_idle_limit() {
    for after in [0, 3] {
        let script = ConversationScript::new()
            .turn(ModelTurn::text(TEXT).with_fault(Fault::Stall { after, ms: 5000 }));
        for_each_provider(&script, |name, asked, server| {
            let error = asked.result.unwrap_err();
            assert!(error.message.contains("sent nothing for 200ms"), "{name}: {error}");
            assert_eq!(error.kind, ProviderErrorKind::Unavailable, "{name}");
            assert_eq!(error.partial.is_some(), after > 0, "{name}");
            assert_eq!(server.agent_requests().len(), 1, "{name}: no second request is charged");
        })
        .await;
    }
}

#[tokio::test]
async fn a_slow_answer_is_waited_for() {
    let script =
        ConversationScript::new().turn(ModelTurn::text(TEXT).with_fault(Fault::Stall { after: 2, ms: 100 }));
    for_each_provider(&script, |name, asked, _| assert_eq!(asked.result.unwrap().text, TEXT, "{name}")).await;
}

#[tokio::test]
async fn a_rate_limited_request_is_retried_after_the_requested_wait() {
    let script =
        ConversationScript::new().turn(status(429, Some(1), "slow down")).turn(ModelTurn::text(TEXT));
    for name in PROVIDER_NAMES {
        let server = ModelServer::start(script.clone()).unwrap();
        let began = Instant::now();
        let asked = ask(&*provider(name, &server.url()), &request(vec![ChatMessage::user("go")])).await;
        assert_eq!(asked.result.unwrap().text, TEXT, "{name}");
        assert_waited(began, Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_requested_wait_above_the_limit_is_an_error_at_once() {
    let script = ConversationScript::new().turn(status(429, Some(3600), "quota used up"));
    for_each_provider(&script, |name, asked, server| {
        let error = error_text(&asked.result.unwrap_err(), server);
        assert!(
            error.contains("is rate limited; retry after 3600s (HTTP 429): quota used up → try again later"),
            "{name}: {error}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_server_in_trouble_is_asked_a_few_times_and_no_more() {
    let twice = ConversationScript::new()
        .turn(ModelTurn::status(500))
        .turn(ModelTurn::status(529))
        .turn(ModelTurn::text(TEXT));
    for_each_provider(&twice, |name, asked, _| assert_eq!(asked.result.unwrap().text, TEXT, "{name}")).await;

    let always =
        (0..9).fold(ConversationScript::new(), |script, _| script.turn(status(503, None, "overloaded")));
    for_each_provider(&always, |name, asked, server| {
        let error = error_text(&asked.result.unwrap_err(), server);
        assert!(
            error.contains("is unavailable (HTTP 503): overloaded (after 3 attempts)"),
            "{name}: {error}"
        );
        assert_eq!(server.agent_requests().len(), 3, "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_refusal_has_a_hint_and_never_shows_the_key() {
    let mut messages = Vec::new();
    for (code, message) in [
        (400, "messages: too many"),
        (401, "Incorrect API key provided: sk-not-to-be-seen."),
        (404, "model: some-model"),
        (413, "too large\nfor us"),
    ] {
        for name in PROVIDER_NAMES {
            let script = ConversationScript::new().turn(status(code, None, message));
            let server = ModelServer::start(script).unwrap();
            let asked = ask(&*provider(name, &server.url()), &request(vec![ChatMessage::user("go")])).await;
            messages.push(error_text(&asked.result.unwrap_err(), &server));
            assert_eq!(server.agent_requests().len(), 1, "{name}");
        }
    }
    let messages = messages.join("\n");
    assert!(!messages.contains(SECRET));
    insta::assert_snapshot!(messages);
}

#[tokio::test]
async fn an_unreachable_server_is_reported_after_a_few_attempts() {
    let url = ModelServer::start(ConversationScript::new()).unwrap().url();
    for name in PROVIDER_NAMES {
        let error = ask(&*provider(name, &url), &request(Vec::new())).await.result.unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::Unavailable);
        assert!(error.message.contains("(after 3 attempts)"), "{error}");
        assert!(!format!("{error:?}").contains(SECRET));
    }
}

/// Waits until all request threads have ended. Thread names are available on Linux only.
async fn wait_request_threads() {
    let began = Instant::now();
    let is_ours = |task: std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name == "model\n")
    };
    let left = || std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.flatten().any(is_ours));
    while left() {
        assert_no_hang(began, "a request thread is still running");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn cancelling_ends_the_request_at_once() {
    for after in [0, 3] {
        for name in PROVIDER_NAMES {
            let script = ConversationScript::new()
                .turn(ModelTurn::text(TEXT).with_fault(Fault::Stall { after, ms: 600_000 }));
            let server = ModelServer::start(script).unwrap();
            let settings = ProviderSettings {
                key: ApiKey::new(SECRET),
                base_url: Some(server.url()),
                limits: ProviderLimits { idle: HANG_TIMEOUT * 2, ..limits() },
            };
            let provider = provider_by_name(name, settings).unwrap();
            let cancel = CancelToken::new();
            let stop = cancel.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(100)).await;
                stop.cancel();
            });
            let began = Instant::now();
            let request = request(vec![ChatMessage::user("go")]);
            let error = provider.generate(&request, &mut |_| {}, &cancel).await.unwrap_err();
            assert_eq!(
                (error.kind, error.partial.is_some()),
                (ProviderErrorKind::Cancelled, after > 0),
                "{name}"
            );
            assert_no_hang(began, name);
            wait_request_threads().await;
        }
    }
}
