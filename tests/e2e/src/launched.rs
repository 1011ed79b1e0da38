// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Starts clients with the descriptions in `crates/harness-install`, which `doctor --prove` uses too.

use std::process::Command;

use anyhow::{Context as _, Result, anyhow, ensure};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_harness_install::launch::{ClientInvocation, ClientLaunch, LaunchSite, write_launch_settings};
use tenterhook_model_server::{Delivery, ScriptedCall};

use crate::programs;
use crate::world::World;

fn launch(id: &str) -> Result<&'static ClientLaunch> {
    let harness = tenterhook_harness::find_harness(id).with_context(|| format!("no harness `{id}`"))?;
    harness.launch().map_err(|reason| anyhow!("{id}: {reason}"))
}

/// The client in the world's project, ready for a prompt.
pub(crate) fn start(id: &str, world: &World, model: &str, prompt: &str) -> Result<Command> {
    command(id, world, session(id, world, model, prompt)?)
}

/// Arguments and environment of a client that is signed in to the model.
pub(crate) fn session(id: &str, world: &World, model: &str, prompt: &str) -> Result<ClientInvocation> {
    let launch = launch(id)?;
    let (home, project) = (world.home(), world.project());
    let site = LaunchSite { home: &home, project: &project, model };
    if let Some(sign_in) = launch.sign_in {
        let output = command(id, world, sign_in(&site))?.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok((launch.session)(&site, prompt))
}

fn command(id: &str, world: &World, invocation: ClientInvocation) -> Result<Command> {
    let mut command = world.command(programs::client(id)?)?;
    command.args(invocation.args).envs(invocation.env);
    Ok(command)
}

/// Writes the settings that the client needs, below `directory` of the world's home.
pub(crate) fn write_settings(id: &str, world: &World, directory: &str) -> Result<()> {
    Ok(write_launch_settings(launch(id)?, &world.home().join(directory))?)
}

/// A call of the client's shell tool.
pub(crate) fn shell(id: &str, command: &str) -> ScriptedCall {
    // A client without a launch description has already failed at its start.
    let request = launch(id).map(|launch| (launch.shell)(command));
    request.map_or_else(
        |_| ScriptedCall::new("", command.into()),
        |call| ScriptedCall::new(call.name, call.input),
    )
}

/// How the model's answers are sent to the client.
pub(crate) fn delivery(id: &str) -> Result<Delivery> {
    let pause = launch(id)?.event_pause_ms;
    Ok(pause.map_or(Delivery::Whole, |pause_ms| Delivery::Paced { pause_ms }))
}
