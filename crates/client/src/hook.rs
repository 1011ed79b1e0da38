// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tenterhook_proto::v1::{self, HookConfig, HookMatcher, RegisterHookRequest};

use crate::{HandlerResult, HookEvent};

/// What happens if a hook fails: the hook times out, returns an error, or its program is not connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailBehavior {
    /// The action continues.
    Continue,
    /// The action is blocked.
    Block,
}

/// The function of a hook.
pub type Handler = Arc<dyn Fn(HookEvent) -> BoxFuture<'static, HandlerResult> + Send + Sync>;

/// A hook to register: its events, its options and its function.
#[derive(Clone)]
pub struct Hook {
    pub(crate) event_type: String,
    pub(crate) id: Option<String>,
    pub(crate) matcher: HookMatcher,
    pub(crate) config: HookConfig,
    pub(crate) handler: Handler,
}

impl Hook {
    /// Creates a hook for events of a type, such as `PreToolUse`. Set its function with [`Hook::run`].
    pub fn on(event_type: impl Into<String>) -> Self {
        Self {
            event_type: event_type.into(),
            id: None,
            matcher: HookMatcher::default(),
            config: HookConfig::default(),
            handler: Arc::new(|_| Box::pin(async { ().into() })),
        }
    }

    /// Sets the id: 1 to 64 characters of `A–Z a–z 0–9 _ . -`. By default a random id is generated.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Runs the hook only for the tool with exactly this name.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.matcher.tool = Some(tool.into());
        self
    }

    /// Runs the hook only for calls with a matching path; `*.env` matches at any depth.
    #[must_use]
    pub fn path(mut self, glob: impl Into<String>) -> Self {
        self.matcher.path_pattern = Some(glob.into());
        self
    }

    /// Runs the hook only for commands that match this regular expression.
    #[must_use]
    pub fn command(mut self, pattern: impl Into<String>) -> Self {
        self.matcher.command_pattern = Some(pattern.into());
        self
    }

    /// Sets the position in the order of hooks; lower numbers run first. The default is 0.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.config.priority = priority;
        self
    }

    /// Sets the time limit. The default is 5 s, the maximum 45 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.config.timeout_ms = to_millis(timeout);
        self
    }

    /// Makes the hook an observer: the daemon does not wait for it, and its response is ignored.
    #[must_use]
    pub fn observing(mut self) -> Self {
        self.config.r#async = true;
        self
    }

    /// Sets what happens if the hook fails. The default is `failBehavior` in `tenterhook.yaml`, or
    /// [`FailBehavior::Continue`].
    #[must_use]
    pub fn fail(mut self, fail: FailBehavior) -> Self {
        let fail = match fail {
            FailBehavior::Continue => v1::FailBehavior::FailContinue,
            FailBehavior::Block => v1::FailBehavior::FailBlock,
        };
        self.config.fail_behavior = fail.into();
        self
    }

    /// Sets how long the hook stays registered after the program disconnects. The default is 30 s.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.config.linger_ms = to_millis(linger);
        self
    }

    /// Sets the hook's function. When the daemon cancels a call, the function's future is dropped.
    #[must_use]
    pub fn run<F, R, A>(mut self, f: F) -> Self
    where
        F: Fn(HookEvent) -> R + Send + Sync + 'static,
        R: Future<Output = A> + Send + 'static,
        A: Into<HandlerResult>,
    {
        self.handler = Arc::new(move |event| {
            let future = f(event);
            Box::pin(async move { future.await.into() })
        });
        self
    }

    pub(crate) fn to_request(&self, id: &str) -> RegisterHookRequest {
        RegisterHookRequest {
            event_type: self.event_type.clone(),
            matcher: Some(self.matcher.clone()),
            config: Some(self.config),
            hook_id: Some(id.to_owned()),
        }
    }
}

fn to_millis(time: Duration) -> i32 {
    // The daemon reads 0 as "use the default".
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX).max(1)
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event_type, id, matcher, config, .. } = self;
        f.debug_struct("Hook")
            .field("event_type", event_type)
            .field("id", id)
            .field("matcher", matcher)
            .field("config", config)
            .finish_non_exhaustive()
    }
}
