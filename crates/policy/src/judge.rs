// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Event, facts and rules → findings. Pure: the same input gives the same judgement.

mod conditions;

use conditions::Tell;
use serde::Serialize;
use tenterhook_event::{Decision, Event, Finding, Origin, Status, Step};

use crate::compile::RuleSet;
use crate::facts::Facts;
use crate::rule::{Mode, Rule};

/// What the rules say about one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    /// What the rules that are enforced say, in rule order.
    pub findings: Vec<Finding>,
    /// Every rule that matched, also those that only watch.
    pub steps: Vec<Step>,
}

/// What became of one rule, in plain words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleNote {
    /// The rule, by its id.
    pub rule: String,
    /// Whether it matched.
    pub matched: bool,
    /// What it says, or would say.
    pub verdict: Decision,
    /// What it matched on, or which condition failed first.
    pub why: String,
}

/// What a rule makes of an event.
enum Verdict {
    /// A condition did not hold.
    Passes(String),
    /// All conditions hold.
    Matches(String),
    /// The text could not be read, and mentions what the rule looks for.
    Suspects(Decision, String),
}

/// Judges an event by the rules.
pub fn judge(event: &Event, facts: &Facts, rules: &RuleSet) -> Judgement {
    let mut judgement = Judgement::default();
    for rule in rules.rules() {
        let Some((finding, why)) = finding(rule, event, facts) else { continue };
        let status = match rule.mode {
            Mode::Enforce => Status::Matched,
            Mode::Monitor => Status::Monitored,
        };
        judgement.steps.push(Step {
            by: finding.by.clone(),
            status,
            decision: finding.decision,
            took_us: 0,
            note: Some(why),
        });
        if rule.mode == Mode::Enforce {
            judgement.findings.push(finding);
        }
    }
    judgement
}

/// Says of every rule whether it matches, and why or why not.
pub fn explain(event: &Event, facts: &Facts, rules: &RuleSet) -> Vec<RuleNote> {
    let note = |rule: &Rule| {
        let (matched, verdict, why) = match verdict(rule, event, facts, Tell::Why) {
            Verdict::Passes(why) => (false, rule.verdict, why),
            Verdict::Matches(why) => (true, rule.verdict, why),
            Verdict::Suspects(decision, why) => (true, decision, why),
        };
        RuleNote { rule: rule.id.to_string(), matched, verdict, why }
    };
    rules.rules().map(note).collect()
}

/// What one rule says, if it matches, and what it matched on.
pub(crate) fn finding(rule: &Rule, event: &Event, facts: &Facts) -> Option<(Finding, String)> {
    let by = Origin::Rule(rule.id.clone());
    let (decision, reason, why) = match verdict(rule, event, facts, Tell::Nothing) {
        Verdict::Passes(_) => return None,
        Verdict::Matches(why) => {
            let plain = || format!("matched rule {} ({})", rule.id, rule.verdict);
            (rule.verdict, rule.reason.clone().unwrap_or_else(plain), why)
        }
        Verdict::Suspects(decision, why) => (decision, format!("{why} (rule {})", rule.id), why),
    };
    Some((Finding { nudge: rule.nudge.clone(), ..Finding::decided(by, decision, reason) }, why))
}

fn verdict(rule: &Rule, event: &Event, facts: &Facts, tell: Tell) -> Verdict {
    match rule.matcher.check(event, facts, tell) {
        Ok(held) if held.sure || rule.verdict != Decision::Deny => Verdict::Matches(held.why),
        Ok(held) => {
            Verdict::Suspects(Decision::Ask, format!("{}, if an unknown word is an option", held.why))
        }
        Err(why) => {
            let suspicion = rule.unread.and_then(|decision| {
                let found =
                    facts.unread.iter().find_map(|text| Some((text, rule.matcher.mentioned(event, text)?)));
                let (text, what) = found?;
                let why =
                    format!("part of the command could not be read ({}), and it mentions {what}", text.why);
                Some(Verdict::Suspects(decision, why))
            });
            suspicion.unwrap_or(Verdict::Passes(why))
        }
    }
}
