// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cancels running work.

use std::sync::Arc;

use tokio::sync::watch;

/// A token that cancels all work holding a clone of it. A cancelled token stays cancelled.
#[derive(Debug, Clone)]
pub struct CancelToken {
    state: Arc<watch::Sender<bool>>,
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(false)) }
    }

    /// Cancels all work that holds a clone of this token.
    pub fn cancel(&self) {
        self.state.send_replace(true);
    }

    /// Returns whether the token was cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.state.borrow()
    }

    /// Waits until the token is cancelled. Returns at once if it already is.
    pub async fn cancelled(&self) {
        let mut state = self.state.subscribe();
        // `self` keeps the sender alive, so the wait can only end with a cancellation.
        let _ = state.wait_for(|cancelled| *cancelled).await;
    }

    /// Runs a future. Returns `None` and drops the future if the token is cancelled first.
    pub async fn or<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.cancelled() => None,
            done = future => Some(done),
        }
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn current_and_later_waiters_see_the_cancellation() {
        let cancel = CancelToken::new();
        assert_eq!(cancel.or(async { 7 }).await, Some(7));
        let waits = tokio::spawn({
            let cancel = cancel.clone();
            async move { cancel.or(std::future::pending::<()>()).await }
        });
        cancel.cancel();
        assert_eq!(waits.await.unwrap(), None);
        assert!(cancel.is_cancelled());
        assert_eq!(cancel.or(async { 7 }).await, None);
    }
}
