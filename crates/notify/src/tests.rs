// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Delivers notices to a local HTTP server and to a fake `notify-send`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::{DeliveryContext, Notice, NoticeKind, Notifier, NotifySettings, TargetKind, deliver};
use serde_json::{Value, json};
use tenterhook_test_support::{HANG_TIMEOUT, wait_until};

/// A request that the server received: its first line, its headers in lower case, and its body.
struct ReceivedPost {
    line: String,
    headers: Vec<String>,
    body: String,
}

/// Starts a server that replies with `status` after `delay`.
fn start_server(status: &'static str, delay: Duration) -> (String, Receiver<ReceivedPost>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut head) = (String::new(), Vec::new());
            while reader.read_line(&mut line).unwrap() > 2 {
                head.push(std::mem::take(&mut line).trim_end().to_owned());
            }
            let headers: Vec<_> = head.iter().skip(1).map(|line| line.to_ascii_lowercase()).collect();
            let length = headers.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            std::thread::sleep(delay);
            let reply = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
            // The client may have given up.
            let _ = stream.write_all(reply.as_bytes());
            let body = String::from_utf8(body).unwrap();
            if sender.send(ReceivedPost { line: head[0].clone(), headers, body }).is_err() {
                return;
            }
        }
    });
    (url, received)
}

fn approval(summary: &str) -> Notice {
    let notice = Notice::new(NoticeKind::Approval, "codex", "01KA4T8Q0RZV6M8W3T1C5N7P9D");
    let mut notice = notice.with_call(Some("Bash"), summary, Some("ask-terraform"));
    notice.seconds_left = Some(52);
    notice
}

fn settings(text: &str) -> NotifySettings {
    let (settings, problems) = NotifySettings::read("t.yaml", text);
    assert_eq!(problems, []);
    settings
}

fn write_program(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    fs_err::write(&path, text).unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_webhook_slack_and_ntfy_receive_their_format() {
    let (url, received) = start_server("200 OK", Duration::ZERO);
    let (notice, context) = (approval("terraform apply"), DeliveryContext::default());
    let next = || received.recv_timeout(HANG_TIMEOUT).unwrap();

    deliver(&TargetKind::Webhook(format!("{url}/hook?key=1")), &notice, &context).unwrap();
    let post = next();
    assert_eq!(post.line, "POST /hook?key=1 HTTP/1.1");
    assert!(post.headers.contains(&"content-type: application/json".to_owned()), "{:?}", post.headers);
    assert_eq!(
        serde_json::from_str::<Value>(&post.body).unwrap(),
        json!({
            "version": 1, "kind": "approval", "title": "Tenterhook: approval needed", "harness": "codex",
            "tool": "Bash", "summary": "terraform apply", "rule": "ask-terraform", "seconds_left": 52,
            "id": "01KA4T8Q0RZV6M8W3T1C5N7P9D", "name": "q8y8q", "answer": "tenterhook approvals show q8y8q", "more": 0,
        })
    );

    deliver(&TargetKind::Slack(format!("{url}/services/T/B/x")), &notice, &context).unwrap();
    let body: Value = serde_json::from_str(&next().body).unwrap();
    let text = "Tenterhook: approval needed\ncodex · Bash · terraform apply\nrule ask-terraform\n52 s left\n\
                tenterhook approvals show q8y8q";
    assert_eq!(body["text"], text);
    assert_eq!(body["blocks"][0]["text"]["text"], text);

    deliver(&TargetKind::Ntfy(format!("{url}/topic")), &notice, &context).unwrap();
    let post = next();
    assert_eq!(post.line, "POST /topic HTTP/1.1");
    for header in
        ["title: tenterhook: approval needed", "priority: high", "content-type: text/plain; charset=utf-8"]
    {
        assert!(post.headers.contains(&header.to_owned()), "{header}: {:?}", post.headers);
    }
    assert_eq!(post.body, text.split_once('\n').unwrap().1);
}

#[test]
fn a_failure_is_reported_without_the_address() {
    let (url, _received) = start_server("403 Forbidden", Duration::ZERO);
    let context = DeliveryContext::default();
    let error = deliver(&TargetKind::Slack(format!("{url}/services/token")), &approval("x"), &context);
    assert_eq!(error.unwrap_err().to_string(), "the server replied with HTTP status 403");
    let error = deliver(&TargetKind::Webhook("http://127.0.0.1:1/token".into()), &approval("x"), &context);
    assert!(!error.unwrap_err().to_string().contains("token"));
    let error = deliver(&TargetKind::Bell, &approval("x"), &context).unwrap_err();
    assert_eq!(error.to_string(), "the harness has no terminal, so no bell rings");
}

#[cfg(not(target_os = "macos"))]
#[test]
fn the_desktop_program_gets_the_text_as_arguments_and_no_shell_reads_it() {
    let directory = tempfile::tempdir().unwrap();
    let context =
        DeliveryContext { path: format!("relative:{}", directory.path().display()), session_bus: None };
    let missing = deliver(&TargetKind::Desktop, &approval("x"), &context).unwrap_err();
    assert_eq!(missing.to_string(), "`notify-send` is not on the PATH");
    let out = directory.path().join("out");
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {}\n", out.display());
    write_program(directory.path(), "notify-send", &script);
    deliver(&TargetKind::Desktop, &approval("-h $(touch x); `id` <b>&"), &context).unwrap();
    assert_eq!(
        fs_err::read_to_string(&out).unwrap(),
        "--app-name=Tenterhook\n--urgency=critical\n--expire-time=52000\n--\nTenterhook: approval needed\n\
         codex · Bash · -h $(touch x); `id` &lt;b&gt;&amp;\nrule ask-terraform\n52 s left\n\
         tenterhook approvals show q8y8q\n"
    );
    write_program(directory.path(), "notify-send", "#!/bin/sh\nexit 3\n");
    let failed = deliver(&TargetKind::Desktop, &approval("x"), &context).unwrap_err();
    assert_eq!(failed.to_string(), "`notify-send` failed with exit status: 3");
}

#[cfg(not(target_os = "macos"))]
#[test]
fn a_desktop_program_that_hangs_is_ended() {
    let directory = tempfile::tempdir().unwrap();
    write_program(directory.path(), "notify-send", "#!/bin/sh\nexec /bin/sleep 600\n");
    let context = DeliveryContext { path: directory.path().display().to_string(), session_bus: None };
    let error = deliver(&TargetKind::Desktop, &approval("x"), &context).unwrap_err();
    assert_eq!(error.to_string(), "`notify-send` did not end in time");
}

#[test]
fn notices_within_the_interval_are_merged_and_only_wanted_kinds_are_sent() {
    let (url, received) = start_server("200 OK", Duration::ZERO);
    let settings = settings(&format!("notify: [{{webhook: '{url}', interval: 1s}}]"));
    let notifier = Notifier::start(&settings, &DeliveryContext::default(), &Notifier::default());
    assert!(notifier.wants(NoticeKind::Approval) && !notifier.wants(NoticeKind::Denied));
    notifier.notify(&Notice::new(NoticeKind::Denied, "codex", "1"));
    notifier.notify(&approval("first"));
    let summary = |post: &ReceivedPost| {
        let body: Value = serde_json::from_str(&post.body).unwrap();
        (body["summary"].clone(), body["more"].clone())
    };
    assert_eq!(summary(&received.recv_timeout(HANG_TIMEOUT).unwrap()), (json!("first"), json!(0)));
    for summary in ["second", "third", "fourth"] {
        notifier.notify(&approval(summary));
    }
    assert_eq!(summary(&received.recv_timeout(HANG_TIMEOUT).unwrap()), (json!("fourth"), json!(2)));
    assert_eq!((notifier.dropped(), notifier.failed()), (0, 0));
}

#[test]
fn a_slow_target_delays_no_call_and_the_oldest_notices_are_dropped() {
    let (url, received) = start_server("500 Broken", Duration::from_millis(700));
    let settings = settings(&format!("notify: [{{webhook: '{url}', interval: 0s}}]"));
    let notifier = Notifier::start(&settings, &DeliveryContext::default(), &Notifier::default());
    notifier.notify(&approval("0"));
    // The first notice is being delivered, so it is not in the queue any more.
    std::thread::sleep(Duration::from_millis(200));
    let began = Instant::now();
    for number in 1..=100 {
        notifier.notify(&approval(&number.to_string()));
    }
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    assert_eq!(notifier.dropped(), 68);
    received.recv_timeout(HANG_TIMEOUT).unwrap();
    let second = received.recv_timeout(HANG_TIMEOUT).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&second.body).unwrap()["summary"], "69");
    wait_until("a failure is counted", || (notifier.failed() > 0).then_some(()));
    let counts = (notifier.dropped(), notifier.failed());
    let next = Notifier::start(&NotifySettings::default(), &DeliveryContext::default(), &notifier);
    assert!(next.dropped() >= counts.0 && next.failed() >= counts.1);
}
