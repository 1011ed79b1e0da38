// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

const NOW: u64 = 1_800_000_000_000;
const OWNER: u32 = 1000;

struct Test {
    authority: Authority,
    _dir: tempfile::TempDir,
}

fn gate() -> Test {
    let dir = tempfile::tempdir().unwrap();
    Test { authority: Authority::of(&Home::in_dir(dir.path().to_owned()), OWNER), _dir: dir }
}

fn caller() -> Caller {
    Caller {
        uid: OWNER,
        pid: Some(7),
        program: Some("/usr/bin/tenterhook".to_owned()),
        ancestors: vec!["bash".to_owned()],
        terminal: Some(true),
        agent: None,
        run: None,
        identity: Identity::Verified,
        channel: CallerChannel::Socket,
    }
}

fn typed() -> Proof {
    Proof { tty: true, code: None }
}

fn with_code(code: &str) -> Proof {
    Proof { tty: false, code: Some(code.to_owned()) }
}

impl Test {
    fn admit(&self, caller: &Caller, proof: &Proof) -> Result<&'static str, String> {
        let result = self.authority.admit(Action::Monitor, caller, proof, NOW);
        result.map(|granted| granted.proof).map_err(|refused| refused.why)
    }

    /// Enables a secret and returns its current code.
    fn enrolled(&self) -> String {
        let secret = self.authority.codes.start(NOW - 90_000).unwrap();
        let earlier = totp::code_at(&secret, totp::step_at(NOW - 90_000)).unwrap();
        assert_eq!(self.authority.codes.confirm(&earlier, NOW - 90_000).unwrap(), CodeResult::Accepted);
        totp::code_at(&secret, totp::step_at(NOW)).unwrap()
    }
}

#[test]
fn without_codes_a_person_on_a_terminal_passes_and_nobody_else() {
    let gate = gate();
    assert_eq!(gate.admit(&caller(), &typed()), Ok("tty"));
    assert!(gate.admit(&caller(), &Proof::default()).is_err(), "nothing was typed");
    let piped = Caller { terminal: Some(false), ..caller() };
    assert!(gate.admit(&piped, &typed()).is_err(), "the kernel knows better");
    let unknown = Caller { terminal: None, ..caller() };
    assert!(gate.admit(&unknown, &typed()).is_err(), "a terminal that was not verified is none");
    assert!(gate.admit(&Caller::with_token(OWNER), &typed()).is_err(), "the token is no person");
    assert!(gate.admit(&caller(), &with_code("123456")).is_err(), "no code is right where there are none");
}

#[test]
fn with_codes_nothing_else_counts_and_each_counts_once() {
    let gate = gate();
    let code = gate.enrolled();
    assert!(gate.admit(&caller(), &typed()).unwrap_err().contains("needs a code"));
    assert!(gate.admit(&caller(), &with_code("000000")).unwrap_err().contains("wrong"));
    assert_eq!(gate.admit(&Caller::with_token(OWNER), &with_code(&code)), Ok("code"));
    assert!(gate.admit(&caller(), &with_code(&code)).unwrap_err().contains("used already"));
}

fn agent() -> Agent {
    let (name, harness) = ("node".to_owned(), "claude-code".to_owned());
    Agent { pid: 5, start: 1, name, harness, namespace: None, boot: None }
}

#[test]
fn a_guarded_agent_passes_with_a_code_only_and_the_refusal_names_the_mark() {
    let gate = gate();
    let caller = Caller { agent: Some(agent()), ..caller() };
    let refused = gate.authority.admit(Action::Monitor, &caller, &typed(), NOW).unwrap_err();
    assert_eq!(
        refused.why,
        "`mode monitor` was requested by a guarded agent (claude-code: `node`, process 5)"
    );
    assert!(refused.hint.contains("tenterhook agent forget 5"), "{}", refused.hint);
    let fleet = [Action::FleetJoin, Action::FleetJoinUnconfirmed, Action::FleetLeave, Action::FleetFinish];
    for action in fleet.into_iter().chain([Action::TotpEnroll]) {
        let admitted = gate.authority.admit(action, &caller, &Proof::default(), NOW);
        assert!(admitted.is_err(), "{action}: it could lock its person out, or choose its own policy");
    }
    assert!(gate.admit(&caller, &with_code("123456")).is_err(), "there are no codes");
    let root = Caller { uid: 0, ..caller.clone() };
    assert!(gate.admit(&root, &typed()).is_err());
    let code = gate.enrolled();
    assert!(gate.admit(&caller, &typed()).unwrap_err().contains("guarded"));
    assert!(gate.admit(&caller, &with_code("000000")).unwrap_err().contains("wrong"));
    let stranger = Caller { uid: 1001, ..caller.clone() };
    assert!(gate.admit(&stranger, &with_code(&code)).unwrap_err().contains("another account"));
    assert_eq!(gate.admit(&caller, &with_code(&code)), Ok("code"), "a mark can be wrong");
}

#[test]
fn a_caller_that_cannot_be_identified_passes_with_a_code_only() {
    let gate = gate();
    let unknown = Caller {
        terminal: None,
        identity: Identity::Unknown("the process has ended".to_owned()),
        ..caller()
    };
    for caller in [unknown.clone(), Caller { terminal: Some(true), ..unknown.clone() }] {
        let why = gate.admit(&caller, &typed()).unwrap_err();
        assert!(why.contains("cannot be identified: the process has ended"), "{why}");
        assert!(gate.authority.admit(Action::TotpEnroll, &caller, &Proof::default(), NOW).is_err());
    }
    let home = Home { machine_run: Some("/run".into()), ..Home::in_dir("/nowhere".into()) };
    let system = Authority::of(&home, OWNER);
    let root = Caller { uid: 0, ..unknown.clone() };
    assert!(
        system.admit(Action::Monitor, &root, &Proof::default(), NOW).is_err(),
        "root's agents are guarded too"
    );
    let code = gate.enrolled();
    assert_eq!(gate.admit(&unknown, &with_code(&code)), Ok("code"));
    let (_, leaf) =
        Authority::change_record(Action::Monitor, &unknown, &Ok(GrantedAction { proof: "code" }), json!({}));
    assert_eq!(leaf["authority"]["unverified"], "the process has ended");
}

#[test]
fn where_ancestries_are_not_told_a_code_is_needed_except_to_uninstall_and_to_set_codes_up() {
    let gate = gate();
    let caller = Caller { terminal: None, identity: Identity::Unsupported, ..caller() };
    let why = gate.admit(&caller, &typed()).unwrap_err();
    assert!(why.contains("needs a code here"), "{why}");
    for action in [Action::Uninstall, Action::TotpEnroll] {
        assert!(gate.authority.admit(action, &caller, &Proof::default(), NOW).is_err(), "{action}");
        let granted = gate.authority.admit(action, &caller, &typed(), NOW);
        assert_eq!(
            granted,
            Ok(GrantedAction { proof: "unverified" }),
            "no terminal is claimed that nobody saw"
        );
    }
    let code = gate.enrolled();
    assert_eq!(gate.admit(&caller, &with_code(&code)), Ok("code"));
}

#[test]
fn other_accounts_are_strangers_and_the_machine_s_administrator_needs_nothing() {
    let gate = gate();
    let (other, root) =
        (Caller { uid: 1001, ..caller() }, Caller { uid: 0, terminal: Some(false), ..caller() });
    assert!(gate.admit(&other, &typed()).unwrap_err().contains("another account"));
    assert!(gate.admit(&root, &Proof::default()).is_err(), "in a person's home root types too");
    let home = Home { machine_run: Some("/run".into()), ..Home::in_dir("/nowhere".into()) };
    let system = Test { authority: Authority::of(&home, OWNER), ..gate };
    assert_eq!(system.admit(&root, &Proof::default()), Ok("root"));
    assert!(system.admit(&other, &typed()).is_err());
}

#[test]
fn setting_up_codes_needs_no_proof_once() {
    let gate = gate();
    let enroll = || gate.authority.admit(Action::TotpEnroll, &caller(), &Proof::default(), NOW);
    assert_eq!(enroll(), Ok(GrantedAction { proof: "none" }));
    gate.enrolled();
    assert!(enroll().is_err(), "another secret needs a code of the first");
}

#[test]
fn the_record_says_who_asked_and_what_came_of_it() {
    let detail = json!({"name": "x"});
    let (what, leaf) = Authority::change_record(
        Action::RulesDisable,
        &caller(),
        &Ok(GrantedAction { proof: "tty" }),
        detail.clone(),
    );
    let by = json!({
        "uid": OWNER, "pid": 7, "program": "/usr/bin/tenterhook", "under": ["bash"], "via": "socket", "proof": "tty"
    });
    assert_eq!((what, leaf), ("rules disable", json!({"name": "x", "authority": by})));
    let refused = Err(AuthorityRefusal::new("no", ""));
    let (what, leaf) = Authority::change_record(Action::RulesDisable, &caller(), &refused, detail);
    assert_eq!(
        (what, &leaf["action"], &leaf["asked"]["name"]),
        ("refused", &json!("rules disable"), &json!("x"))
    );
    assert_eq!(leaf["authority"]["proof"], "none");
}

#[test]
fn only_a_fleet_that_cannot_weaken_protection_is_joined_without_proof() {
    let gate = gate();
    let admit = |action, proof: &Proof| gate.authority.admit(action, &caller(), proof, NOW);
    assert!(admit(Action::FleetJoinUnconfirmed, &Proof::default()).is_ok());
    for action in [Action::FleetJoin, Action::FleetLeave] {
        assert!(admit(action, &Proof::default()).is_err(), "{action}");
        assert!(admit(action, &typed()).is_ok(), "{action}");
    }
    assert!(admit(Action::FleetFinish, &Proof::default()).is_ok());
}

#[test]
fn every_action_has_a_name_of_its_own() {
    for action in [Action::Monitor, Action::Approve, Action::Stop, Action::TotpRemove, Action::FleetLeave] {
        assert_eq!(Action::from_name(action.name()), Some(action));
    }
    assert_eq!(Action::from_name(""), None);
}
