// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

fn request() -> HookRequest<'static> {
    HookRequest {
        harness: "claude-code",
        event: "PreToolUse",
        id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        within_ms: 55_000,
        version: "0.1.0",
        revision: 2,
        project: Some(b"/home/a b/\xFFp"),
        headless: true,
        parent: 4711,
        payload_len: 1234,
    }
}

fn written(request: &HookRequest<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    request.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_header_is_as_the_specification_shows_it() {
    let request = HookRequest { project: Some(b"/p"), ..request() };
    let text = "TH1 hook claude-code PreToolUse 01ARZ3NDEKTSV4RRFFQ69G5FAV 55000 1234\n\
                parent 4711\nrevision 2\nheadless 1\nversion 0.1.0\nproject /p\n\n";
    assert_eq!(String::from_utf8(written(&request)).unwrap(), text);
}

#[test]
fn a_header_is_read_as_it_was_written_and_not_before_it_is_whole() {
    let bytes = written(&request());
    for end in 0..bytes.len() {
        assert_eq!(ClientRequest::read(&bytes[..end]), Ok(None), "{end}");
    }
    assert_eq!(ClientRequest::read(&bytes), Ok(Some((ClientRequest::Hook(request()), bytes.len()))));
    let more = [&bytes[..], b"\n\npayload"].concat();
    assert_eq!(ClientRequest::read(&more).unwrap().unwrap().1, bytes.len(), "the payload is not looked at");
}

#[test]
fn an_asker_of_revision_1_names_no_revision() {
    let bytes = written(&HookRequest { revision: 1, ..request() });
    assert!(!bytes.windows(8).any(|word| word == b"revision"));
    let (ClientRequest::Hook(read), _) = ClientRequest::read(&bytes).unwrap().unwrap() else { panic!() };
    assert_eq!(read.revision, 1);
    assert_eq!(ClientRequest::read(b"TH1 status\n\n"), Ok(Some((ClientRequest::Status { revision: 1 }, 12))));
}

#[test]
fn lines_of_a_newer_asker_are_passed_over() {
    let text = b"TH1 hook h e i 1 2\nversion 9\ncolour red\nproject /p\n\n";
    let (ClientRequest::Hook(read), _) = ClientRequest::read(text).unwrap().unwrap() else { panic!() };
    assert_eq!((read.version, read.project), ("9", Some(&b"/p"[..])));
}

#[test]
fn a_value_that_would_end_its_line_is_left_out() {
    let bytes = written(&HookRequest { project: Some(b"/a\n\nTH1 hook"), ..request() });
    let (ClientRequest::Hook(read), length) = ClientRequest::read(&bytes).unwrap().unwrap() else { panic!() };
    assert_eq!((read.project, length), (None, bytes.len()));
}

#[test]
fn a_name_of_several_words_is_not_sent() {
    for event in ["", "a b", "a\nb", "a\0b"] {
        assert!(HookRequest { event, ..request() }.write(&mut Vec::new()).is_err(), "{event:?}");
    }
}

#[test]
fn an_invalid_header_is_refused() {
    let long = [b"TH1 hook h e i 1 2\nproject ".to_vec(), vec![b'x'; MAX_HEADER_BYTES]].concat();
    for bytes in [
        &b"GET / HTTP/1.1\r\n"[..],
        b"TH2 ",
        b"TH1 hook\n\n",
        b"TH1 hook h e i 1\n\n",
        b"TH1 hook h e i 1 +2\n\n",
        b"TH1 hook h e i 1 2 3\n\n",
        b"TH1 hook h  i 1 2\n\n",
        b"TH1 hook h e i 1 99999999999\n\n",
        b"TH1 hook h e i 1 99999999999999999999999\n\n",
        b"TH1 sing\n\n",
        b"TH1 status x\n\n",
        b"TH1 hook \xFF e i 1 2\n\n",
        &long,
    ] {
        assert!(ClientRequest::read(bytes).is_err(), "{:?}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(
        ClientRequest::read(ClientRequest::STATUS),
        Ok(Some((ClientRequest::Status { revision: 2 }, 23)))
    );
}

#[test]
fn a_reply_is_read_as_it_was_written_and_not_before_its_line_is_whole() {
    for reply in [
        DaemonMessage::Wait,
        DaemonMessage::Version("0.1.0"),
        DaemonMessage::Reply { exit: 2, stdout_len: 0, stderr_len: MAX_REPLY_BYTES },
        DaemonMessage::Fallback("draining, try later"),
        DaemonMessage::Status("pending 3"),
        DaemonMessage::Status(""),
    ] {
        let mut bytes = Vec::new();
        reply.write(&mut bytes);
        for end in 0..bytes.len() {
            assert_eq!(DaemonMessage::read(&bytes[..end]), Ok(None), "{reply:?} {end}");
        }
        let length = bytes.len();
        bytes.extend(b"more\n");
        assert_eq!(DaemonMessage::read(&bytes), Ok(Some((reply, length))));
    }
    assert_eq!(DaemonMessage::whole(0, b"out", b"e"), b"TH1 reply 0 3 1\noute");
}

#[test]
fn an_invalid_reply_is_refused() {
    let long = vec![b'x'; MAX_HEADER_BYTES];
    for bytes in [
        &b"HTTP/1.1 400 Bad Request\r\n"[..],
        b"TH1 reply\n",
        b"TH1 reply 0 1\n",
        b"TH1 reply 256 1 1\n",
        b"TH1 reply 0 -1 1\n",
        b"TH1 reply 0 1 1 1\n",
        b"TH1 reply 0 99999999999 1\n",
        b"TH1 wait for it\n",
        b"TH1 maybe\n",
        b"TH1\n",
        b"\n",
        &[b"TH1 fallback ", &long[..]].concat(),
    ] {
        assert!(DaemonMessage::read(bytes).is_err(), "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn an_explanation_stays_one_line_of_bounded_length() {
    let mut bytes = Vec::new();
    DaemonMessage::Fallback(&format!("a\nb{}", "ä".repeat(MAX_HEADER_BYTES))).write(&mut bytes);
    let (DaemonMessage::Fallback(why), length) = DaemonMessage::read(&bytes).unwrap().unwrap() else {
        panic!()
    };
    assert!(why.starts_with("a bä") && length == bytes.len() && length <= MAX_HEADER_BYTES);
}
