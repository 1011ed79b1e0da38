// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tenterhook_proto::v1::{self, HookConfig, HookMatcher, RegisterHookRequest};

use crate::{Answer, Event};

/// What the failure of a hook means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailBehavior {
    /// As if it had not been there.
    Continue,
    /// As if it had blocked.
    Block,
}

/// What a hook does.
pub type Handler = Arc<dyn Fn(Event) -> BoxFuture<'static, Answer> + Send + Sync>;

/// A hook: which events it is for, and what it does.
#[derive(Clone)]
pub struct Hook {
    pub(crate) event_type: String,
    pub(crate) id: Option<String>,
    pub(crate) matcher: HookMatcher,
    pub(crate) config: HookConfig,
    pub(crate) handler: Handler,
}

impl Hook {
    /// A hook for events of a type, such as `PreToolUse`. It objects to nothing until [`Hook::run`] says what it
    /// does.
    pub fn on(event_type: impl Into<String>) -> Self {
        Self {
            event_type: event_type.into(),
            id: None,
            matcher: HookMatcher::default(),
            config: HookConfig::default(),
            handler: Arc::new(|_| Box::pin(async { ().into() })),
        }
    }

    /// Gives it an id of its own: 1 to 64 of `A–Z a–z 0–9 _ . -`.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Only for exactly this tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.matcher.tool = Some(tool.into());
        self
    }

    /// Only for calls with a path like this; `*.env` fits at any depth.
    #[must_use]
    pub fn path(mut self, glob: impl Into<String>) -> Self {
        self.matcher.path_pattern = Some(glob.into());
        self
    }

    /// Only for commands that this regular expression fits.
    #[must_use]
    pub fn command(mut self, pattern: impl Into<String>) -> Self {
        self.matcher.command_pattern = Some(pattern.into());
        self
    }

    /// Lower numbers come first; 0 unless said.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.config.priority = priority;
        self
    }

    /// How long it may take; 5 s unless said, 45 s at most.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.config.timeout_ms = ms(timeout);
        self
    }

    /// It only watches: nobody waits for it and nothing it answers counts.
    #[must_use]
    pub fn observing(mut self) -> Self {
        self.config.r#async = true;
        self
    }

    /// What its failure means; [`FailBehavior::Continue`] unless said here or in the home's settings.
    #[must_use]
    pub fn fail(mut self, fail: FailBehavior) -> Self {
        let fail = match fail {
            FailBehavior::Continue => v1::FailBehavior::FailContinue,
            FailBehavior::Block => v1::FailBehavior::FailBlock,
        };
        self.config.fail_behavior = fail.into();
        self
    }

    /// How long it stays registered when the program is gone; 30 s unless said.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.config.linger_ms = ms(linger);
        self
    }

    /// What it does. The future is dropped when nobody waits for it any more.
    #[must_use]
    pub fn run<F, R, A>(mut self, f: F) -> Self
    where
        F: Fn(Event) -> R + Send + Sync + 'static,
        R: Future<Output = A> + Send + 'static,
        A: Into<Answer>,
    {
        self.handler = Arc::new(move |event| {
            let answer = f(event);
            Box::pin(async move { answer.await.into() })
        });
        self
    }

    pub(crate) fn request(&self, id: &str) -> RegisterHookRequest {
        RegisterHookRequest {
            event_type: self.event_type.clone(),
            matcher: Some(self.matcher.clone()),
            config: Some(self.config),
            hook_id: Some(id.to_owned()),
        }
    }
}

fn ms(time: Duration) -> i32 {
    // Less than a millisecond is not the same as nothing said.
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
