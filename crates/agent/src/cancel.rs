// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A word that ends whatever is under way.

use std::sync::Arc;

use tokio::sync::watch;

/// Says "stop now" to everything that holds a clone of it. It cannot be taken back.
#[derive(Debug, Clone)]
pub struct Cancel {
    said: Arc<watch::Sender<bool>>,
}

impl Cancel {
    /// One that nobody has said yet.
    pub fn new() -> Self {
        Self { said: Arc::new(watch::Sender::new(false)) }
    }

    /// Says it.
    pub fn cancel(&self) {
        self.said.send_replace(true);
    }

    /// Whether it was said.
    pub fn is_cancelled(&self) -> bool {
        *self.said.borrow()
    }

    /// Returns once it is said; at once if it was.
    pub async fn cancelled(&self) {
        let mut said = self.said.subscribe();
        // The sender lives as long as `self`, so waiting ends with the word alone.
        let _ = said.wait_for(|said| *said).await;
    }

    /// The future's result, or nothing if the word comes first; the future is then dropped.
    pub async fn or<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.cancelled() => None,
            done = future => Some(done),
        }
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_hears_it_and_whoever_comes_later_too() {
        let cancel = Cancel::new();
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
