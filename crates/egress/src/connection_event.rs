// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the events about a connection: before it is made, when it has ended, and when it failed.

use serde_json::{Map, Value, json};
use tenterhook_api::RunRegistration;
use tenterhook_error::Failure;
use tenterhook_event::{Event, EventKind, HookCall, NETWORK_CONNECT, ToolCall};
use tenterhook_home::call_meta;
use tenterhook_proxy::{ConnectionEvent, ConnectionHost, ConnectionRequest, ConnectionTarget, ProxyProtocol};

/// Source of the events of a run whose agent is not a known harness.
pub(crate) const RUN_SOURCE: &str = "sandbox";
/// Maximum length of an address in an event.
const MAX_URL_CHARS: usize = 2048;
/// Schemes of ports whose protocol is known. The bytes inside a tunnel are not read.
const PORT_SCHEMES: &[(u16, &str)] =
    &[(80, "http"), (443, "https"), (22, "ssh"), (21, "ftp"), (23, "telnet")];

/// Returns the event before a connection is made.
pub(crate) fn opening(run: &RunRegistration, request: &ConnectionRequest) -> Result<HookCall, Failure> {
    let mut args = target_args(Some(request.protocol), &request.target);
    let mut add = |key: &str, value: Option<&str>| {
        args.extend(value.map(|value| (key.to_owned(), Value::from(value))));
    };
    add("method", request.method.as_deref());
    add("address", request.class.map(tenterhook_proxy::AddressClass::name));
    add("resolved_from", request.resolved_from.as_deref());
    // The path belongs to the name that the client gave, not to the address that it resolved to.
    if let Some(url) = request.url.as_deref().filter(|_| request.resolved_from.is_none()) {
        add("url", Some(&url.chars().take(MAX_URL_CHARS).collect::<String>()));
    }
    build(run, EventKind::PreTool, "connect", request.id, Value::Object(args))
}

/// Returns the event that records what became of a connection; `None` for what the event before the connection records.
pub(crate) fn ending(run: &RunRegistration, event: &ConnectionEvent) -> Option<Result<HookCall, Failure>> {
    Some(match event {
        ConnectionEvent::Opened { .. } | ConnectionEvent::Refused { judged: true, .. } => return None,
        ConnectionEvent::Closed { id, target, sent, received, duration, end } => {
            let args = Value::Object(target_args(None, target));
            build(run, EventKind::PostTool, "close", *id, args).map(|mut call| {
                let output = json!({"sent": sent, "received": received, "end": end.name()});
                call.event.detail.tool_output = Some(output);
                call.event.detail.duration_ms = u64::try_from(duration.as_millis()).ok();
                call
            })
        }
        ConnectionEvent::Failed { id, target, reason } => failing(run, *id, Some(target), reason),
        ConnectionEvent::Refused { id, target, refusal, .. } => {
            failing(run, *id, target.as_ref(), &refusal.reason)
        }
    })
}

fn failing(
    run: &RunRegistration,
    id: u64,
    target: Option<&ConnectionTarget>,
    reason: &str,
) -> Result<HookCall, Failure> {
    let args = Value::Object(target.map(|target| target_args(None, target)).unwrap_or_default());
    build(run, EventKind::ToolError, "fail", id, args).map(|mut call| {
        call.event.detail.error = Some(reason.to_owned());
        call
    })
}

fn build(
    run: &RunRegistration,
    kind: EventKind,
    native: &str,
    connection: u64,
    args: Value,
) -> Result<HookCall, Failure> {
    let meta = call_meta::mint()?;
    let source = run.harness.as_deref().unwrap_or(RUN_SOURCE);
    let mut event = Event::new(meta.id, meta.ts, source, kind, native);
    event.harness_session_id = Some(run.id.to_string());
    event.tool_use_id = Some(format!("net-{}-{connection}", run.id));
    event.cwd.clone_from(&run.cwd);
    event.project.clone_from(&run.project);
    event.agent.sandbox = Some(run.level);
    event.tool = Some(ToolCall::new(NETWORK_CONNECT, args));
    Ok(HookCall { event, native: None })
}

fn target_args(protocol: Option<ProxyProtocol>, target: &ConnectionTarget) -> Map<String, Value> {
    let mut args = Map::new();
    args.insert("host".to_owned(), target.host.to_string().into());
    args.insert("port".to_owned(), target.port.into());
    args.extend(protocol.map(|protocol| ("protocol".to_owned(), protocol.name().into())));
    args.insert("url".to_owned(), url_of(protocol, target).into());
    args
}

/// Returns an address that rules about addresses read. The scheme of a tunnel follows from its port.
fn url_of(protocol: Option<ProxyProtocol>, target: &ConnectionTarget) -> String {
    let by_port = PORT_SCHEMES.iter().find(|(port, _)| *port == target.port).map(|(_, scheme)| *scheme);
    let scheme = match (protocol, by_port) {
        (Some(ProxyProtocol::Http), _) => "http",
        (_, Some(scheme)) => scheme,
        (_, None) => "tcp",
    };
    let host = match &target.host {
        ConnectionHost::Name(name) => name.clone(),
        address @ ConnectionHost::Address(_) => address.to_authority(),
    };
    format!("{scheme}://{host}:{}/", target.port)
}

#[cfg(test)]
mod tests {
    use tenterhook_event::{EventId, SandboxLevel};
    use tenterhook_proxy::AddressClass;

    use super::*;

    fn run() -> RunRegistration {
        RunRegistration {
            id: EventId::from_parts(1, 1),
            init_pid: 1,
            level: SandboxLevel::NamespacesLandlock,
            harness: None,
            command: "npm".to_owned(),
            cwd: Some("/w".to_owned()),
            project: None,
        }
    }

    fn request(target: &str, protocol: ProxyProtocol, url: Option<&str>) -> ConnectionRequest {
        ConnectionRequest {
            id: 7,
            protocol,
            target: ConnectionTarget::parse(target, None).unwrap(),
            class: None,
            resolved_from: None,
            method: None,
            url: url.map(str::to_owned),
        }
    }

    fn url(request: &ConnectionRequest) -> String {
        let call = opening(&run(), request).unwrap();
        call.event.tool.unwrap().args["url"].as_str().unwrap().to_owned()
    }

    #[test]
    fn rules_about_addresses_read_every_connection() {
        let connect = ProxyProtocol::HttpConnect;
        assert_eq!(url(&request("github.com:443", connect, None)), "https://github.com:443/");
        assert_eq!(url(&request("github.com:22", ProxyProtocol::Socks5, None)), "ssh://github.com:22/");
        assert_eq!(url(&request("db.example:5432", connect, None)), "tcp://db.example:5432/");
        assert_eq!(url(&request("[2606::1]:443", connect, None)), "https://[2606::1]:443/");
        let plain = request("a.example:443", ProxyProtocol::Http, Some("http://a.example:443/x?y"));
        assert_eq!(url(&plain), "http://a.example:443/x?y");
        let mut inner = request("10.0.0.1:443", ProxyProtocol::Http, Some("http://a.example:443/x?y"));
        inner.resolved_from = Some("a.example".to_owned());
        inner.class = Some(AddressClass::Private);
        assert_eq!(url(&inner), "http://10.0.0.1:443/", "an address is judged as the address");
        for text in ["https://github.com:443/", "tcp://db.example:5432/", "https://[2606::1]:443/"] {
            assert!(text.contains("://"));
        }
    }

    #[test]
    fn the_end_of_a_connection_has_the_same_id_as_its_beginning() {
        let begin = opening(&run(), &request("a.example:443", ProxyProtocol::Socks5, None)).unwrap().event;
        let target = ConnectionTarget::parse("a.example:443", None).unwrap();
        let closed = ConnectionEvent::Closed {
            id: 7,
            target: target.clone(),
            sent: 1,
            received: 2,
            duration: std::time::Duration::from_millis(5),
            end: tenterhook_proxy::ConnectionEnd::Finished,
        };
        let end = ending(&run(), &closed).unwrap().unwrap().event;
        assert_eq!((end.tool_use_id, end.event), (begin.tool_use_id, EventKind::PostTool));
        assert_eq!(end.detail.tool_output, Some(json!({"sent": 1, "received": 2, "end": "finished"})));
        assert_eq!(end.detail.duration_ms, Some(5));
        let refusal = tenterhook_proxy::ConnectionRefusal::new("no");
        let refused =
            |judged| ConnectionEvent::Refused { id: 7, target: None, refusal: refusal.clone(), judged };
        assert!(ending(&run(), &refused(true)).is_none(), "the judge recorded it");
        assert_eq!(
            ending(&run(), &refused(false)).unwrap().unwrap().event.detail.error.as_deref(),
            Some("no")
        );
    }
}
