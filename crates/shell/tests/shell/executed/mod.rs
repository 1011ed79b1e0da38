// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Comparison with bash: generated scripts run in an empty sandbox whose only program records its arguments. The
//! recorded argument lists must equal those predicted from the tree and its expansion.

mod control;
mod predict;
mod predicted;
mod sandbox;
mod scripts;

use predicted::PredictedArgs;

/// Number of scripts that are run.
const SCRIPTS: u64 = 1_500;
/// Percentage of predicted argument lists that may have an unknown part.
const MAX_UNKNOWN_PERCENT: usize = 15;
/// Percentage of scripts that may have an unknown condition.
const MAX_LOST_PERCENT: u64 = 8;

#[test]
fn bash_runs_what_is_predicted() {
    let scripts: Vec<_> = (0..SCRIPTS).map(scripts::script).collect();
    let Some(recorded) = sandbox::run(&scripts) else { return };
    let (mut commands, mut unknown, mut lost) = (0, 0, 0);
    let mut wrong = Vec::new();
    for (text, recorded) in scripts.iter().zip(&recorded) {
        let Some(predicted) = predict::predict(text) else {
            lost += 1;
            continue;
        };
        commands += predicted.len();
        unknown += predicted.iter().filter(|command| command.is_unknown()).count();
        if let Err(difference) = compare(&predicted, recorded) {
            wrong.push(format!("{text}\n  {difference}"));
        }
    }
    let share = unknown * 1000 / commands.max(1);
    eprintln!(
        "{SCRIPTS} scripts ({lost} with an unknown condition), {commands} argument lists, {}.{} % with an unknown part",
        share / 10,
        share % 10
    );
    assert!(
        wrong.is_empty(),
        "{} of {SCRIPTS} scripts differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(10)].join("\n\n")
    );
    assert!(lost * 100 <= SCRIPTS * MAX_LOST_PERCENT, "{lost} scripts have a condition that is unknown");
    assert!(commands > 3_000, "{commands}");
    assert!(unknown * 100 <= commands * MAX_UNKNOWN_PERCENT, "{unknown} of {commands} are unknown");
}

fn compare(predicted: &[PredictedArgs], recorded: &[Vec<String>]) -> Result<(), String> {
    // Programs of a pipeline run concurrently.
    let mut left: Vec<&Vec<String>> = recorded.iter().collect();
    for command in predicted {
        match left.iter().position(|recorded| command.fits(recorded)) {
            Some(at) => _ = left.remove(at),
            None => return Err(format!("predicted {command:?}\n  bash ran {recorded:?}")),
        }
    }
    if left.is_empty() { Ok(()) } else { Err(format!("bash also ran {left:?}\n  predicted {predicted:?}")) }
}
