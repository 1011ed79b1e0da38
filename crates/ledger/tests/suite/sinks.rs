// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checkpoints are published, and a rollback is detected.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::sync::mpsc::{Receiver, channel};

use ed25519_dalek::{Signer as _, SigningKey};
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::note::{SignatureLine, VerifierKey};
use tenterhook_ledger::sink::{
    CheckpointSink, FileSink, JournalSink, Publication, SinkError, Transport, TransportError, WebhookSink,
    WitnessSink,
};
use tenterhook_ledger::{Hash, Ledger, proof};
use tenterhook_test_support::wait_until;

use crate::common::{TestLedger, key, options, record};

fn with_sinks(test: &TestLedger, sinks: Vec<Box<dyn CheckpointSink>>) -> Ledger {
    let mut options = options();
    options.sinks = sinks;
    Ledger::open(&test.dir, options).unwrap().ledger
}

#[test]
fn a_file_elsewhere_gets_the_latest_checkpoint_and_sees_a_roll_back() {
    let test = TestLedger::new();
    let file = test.path().join("elsewhere");
    let ledger = with_sinks(&test, vec![Box::new(FileSink(file.clone()))]);
    record(&ledger, 1..=3);
    ledger.close().unwrap();
    let old = std::fs::read(test.dir.join("ledger.db")).unwrap();
    let ledger = with_sinks(&test, vec![Box::new(FileSink(file.clone()))]);
    record(&ledger, 4..=9);
    let latest = ledger.checkpoint().unwrap();
    ledger.close().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), latest);
    // The old ledger is restored, and its checkpoint file is removed.
    std::fs::write(test.dir.join("ledger.db"), old).unwrap();
    std::fs::remove_file(test.dir.join("checkpoint")).unwrap();
    let ledger = with_sinks(&test, vec![Box::new(FileSink(file.clone()))]);
    record(&ledger, 20..=21);
    ledger.checkpoint().unwrap();
    let mut reports = ledger.sink_reports();
    while reports.is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
        reports = ledger.sink_reports();
    }
    assert_eq!(reports[0].error, Some(SinkError::RolledBack { held: 10, here: 6 }));
    record(&ledger, 30..=40);
    drop(ledger);
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        latest,
        "a checkpoint of another history does not replace it"
    );
}

#[test]
fn a_new_sink_gets_the_last_checkpoint_although_nothing_is_recorded() {
    let test = TestLedger::filled();
    let file = test.path().join("elsewhere");
    with_sinks(&test, vec![Box::new(FileSink(file.clone()))]).close().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), test.reader().checkpoint().unwrap().unwrap().1);
}

#[test]
fn the_journal_gets_a_datagram_with_the_whole_note() {
    let test = TestLedger::new();
    let path = test.path().join("journal");
    let journal = UnixDatagram::bind(&path).unwrap();
    let ledger = with_sinks(&test, vec![Box::new(JournalSink(path))]);
    let note = ledger.checkpoint().unwrap();
    let mut datagram = [0; 4096];
    let length = journal.recv(&mut datagram).unwrap();
    let datagram = &datagram[..length];
    assert!(datagram.starts_with(b"MESSAGE=ledger checkpoint: 1 records, root "));
    let mut binary = b"TENTERHOOK_CHECKPOINT\n".to_vec();
    binary.extend((note.len() as u64).to_le_bytes());
    binary.extend(note.as_bytes());
    binary.push(b'\n');
    assert!(datagram.ends_with(&binary));
}

/// A minimal transport over plain TCP.
struct TcpTransport;

impl Transport for TcpTransport {
    fn post(&self, url: &str, content_type: &str, body: &[u8]) -> Result<(u16, Vec<u8>), TransportError> {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut stream = TcpStream::connect(host).map_err(|error| TransportError(error.to_string()))?;
        let length = body.len();
        write!(stream, "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n").unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let text = String::from_utf8(answer).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Ok((head.split(' ').nth(1).unwrap().parse().unwrap(), body.as_bytes().to_vec()))
    }
}

/// A server that passes the path and body of each request to `answer` and responds with its result.
fn server(
    mut answer: impl FnMut(&str, &str) -> (u16, String) + Send + 'static,
) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = String::new();
            let body = loop {
                let mut some = [0; 4096];
                let read = stream.read(&mut some).unwrap();
                request.push_str(std::str::from_utf8(&some[..read]).unwrap_or_default());
                let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
                if body.len() >= length.parse().unwrap() {
                    break body.to_owned();
                }
            };
            let path = request.split(' ').nth(1).unwrap().to_owned();
            let (status, text) = answer(&path, &body);
            write!(stream, "HTTP/1.1 {status} X\r\nConnection: close\r\n\r\n{text}").unwrap();
            drop(sender.send(body));
        }
    });
    (url, requests)
}

#[test]
fn a_webhook_gets_the_note_and_its_refusal_is_reported() {
    let test = TestLedger::new();
    let mut answers = [204, 500].into_iter();
    let (url, requests) = server(move |_, _| (answers.next().unwrap_or(500), String::new()));
    let ledger = with_sinks(&test, vec![Box::new(WebhookSink { url, transport: TcpTransport })]);
    assert_eq!(requests.recv().unwrap(), ledger.checkpoint().unwrap());
    record(&ledger, 1..=1);
    let note = ledger.checkpoint().unwrap();
    assert_eq!(requests.recv().unwrap(), note);
    let failed = || ledger.sink_reports().first().and_then(|report| report.error.clone());
    while failed().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(failed(), Some(SinkError::Failed("the server responded with status 500".into())));
}

/// A witness that follows the specification: it checks the proof against its last checkpoint.
fn witness(secret: SigningKey, key: VerifierKey) -> impl FnMut(&str, &str) -> (u16, String) + Send {
    let mut seen = (0, Hash::empty_root());
    move |path, body| {
        assert_eq!(path, "/add-checkpoint");
        let (head, note) = body.split_once("\n\n").unwrap();
        let mut lines = head.lines();
        let old: u64 = lines.next().unwrap().strip_prefix("old ").unwrap().parse().unwrap();
        if old != seen.0 {
            return (409, format!("{}\n", seen.0));
        }
        let hashes: Vec<Hash> = lines.map(|line| line.parse().unwrap()).collect();
        let (checkpoint, note) = Checkpoint::parse(note).unwrap();
        if proof::check_consistency(seen, (checkpoint.size, checkpoint.root), &hashes).is_err() {
            return (422, String::new());
        }
        seen = (checkpoint.size, checkpoint.root);
        let signature = secret.sign(format!("cosignature/v1\ntime 1794729600\n{}", note.text).as_bytes());
        let stamped: Vec<u8> =
            1_794_729_600_u64.to_be_bytes().into_iter().chain(signature.to_bytes()).collect();
        (200, format!("{}\n", SignatureLine::new(&key, stamped)))
    }
}

#[test]
fn a_witness_cosigns_what_extends_what_it_has_seen() {
    let test = TestLedger::new();
    let secret = SigningKey::from_bytes(&[9; 32]);
    let name = "witness.example/w1";
    let material: Vec<u8> = std::iter::once(4).chain(*secret.verifying_key().as_bytes()).collect();
    let digest: [u8; 32] = sha2::Digest::finalize(sha2::Digest::chain_update(
        <sha2::Sha256 as sha2::Digest>::new(),
        [name.as_bytes(), b"\n", &material].concat(),
    ))
    .into();
    let id = u32::from_be_bytes(digest[..4].try_into().unwrap());
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &material);
    let key: VerifierKey = format!("{name}+{id:08x}+{encoded}").parse().unwrap();
    let (url, requests) = server(witness(secret, key.clone()));
    let sink = |seen| WitnessSink { url: url.clone(), key: key.clone(), transport: TcpTransport, seen };
    let ledger = with_sinks(&test, vec![Box::new(sink(0))]);
    record(&ledger, 1..=6);
    ledger.checkpoint().unwrap();
    drop(ledger);
    assert!(requests.recv().unwrap().starts_with("old 0\n"));
    // The sink has an outdated size, and the witness responds with the current one.
    let ledger = with_sinks(&test, vec![Box::new(sink(0))]);
    record(&ledger, 7..=9);
    ledger.close().unwrap();
    let (_, note) = test.reader().checkpoint().unwrap().unwrap();
    let (checkpoint, note) = Checkpoint::parse(&note).unwrap();
    assert_eq!((checkpoint.size, note.signatures.len()), (10, 2));
    assert_eq!(key.cosignature_time(&note.text, &note.signatures[1].signature), Some(1_794_729_600));
    assert_eq!(note.check(&[&key]), Ok(&key));
    // Publishing again without new records contacts the witness again, but does not add a second signature.
    let ledger = with_sinks(&test, vec![Box::new(sink(0))]);
    ledger.close().unwrap();
    let (_, note) = Checkpoint::parse(&test.reader().checkpoint().unwrap().unwrap().1).unwrap();
    assert_eq!(note.signatures.len(), 2);
    assert_eq!(test.verify().unwrap().unpublished, 0, "a cosigned checkpoint verifies like any other");
}

/// A witness that cosigns when the test allows it.
struct BlockedWitness {
    key: VerifierKey,
    may_answer: Receiver<()>,
}

impl CheckpointSink for BlockedWitness {
    fn name(&self) -> String {
        "blocked witness".to_owned()
    }

    fn publish(&mut self, _: &Publication<'_>) -> Result<Vec<SignatureLine>, SinkError> {
        let _ = self.may_answer.recv();
        Ok(vec![SignatureLine::new(&self.key, vec![0; 64])])
    }
}

#[test]
fn a_cosignature_that_cannot_be_stored_is_reported() {
    let test = TestLedger::new();
    let (answer, may_answer) = channel();
    let key = key(7).key().clone();
    let ledger = with_sinks(&test, vec![Box::new(BlockedWitness { key, may_answer })]);
    record(&ledger, 1..=1);
    ledger.checkpoint().unwrap();
    // A directory has the name of the checkpoint file, so the cosigned checkpoint cannot be written.
    std::fs::remove_file(test.dir.join("checkpoint")).unwrap();
    std::fs::create_dir_all(test.dir.join("checkpoint/in-the-way")).unwrap();
    // One message for the checkpoint of the start, and one for the checkpoint above.
    answer.send(()).unwrap();
    answer.send(()).unwrap();
    let error = wait_until("the failure is reported", || {
        let reports = ledger.sink_reports();
        reports.iter().find(|report| report.sink == "witness")?.error.clone()
    });
    assert!(error.to_string().contains("cannot store the cosignature"), "{error}");
    std::fs::remove_dir_all(test.dir.join("checkpoint")).unwrap();
    drop(answer);
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 2, "records do not depend on witnesses");
}
