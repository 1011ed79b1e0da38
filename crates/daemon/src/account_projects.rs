// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads project files with the rights of other accounts, in threads that do not block calls from any other account.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tenterhook_error::Failure;
use tenterhook_home::WorkDirs;
use tenterhook_home::caller_rights::spawn_as;
use tenterhook_home::trust::ProjectText;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

use crate::generations::{ActiveConfig, MAX_CACHED_PLACES, PLACE_CACHE_TIME};

/// Maximum time that a call waits for its project files to be read.
const PROJECT_READ_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum time that a call waits for other calls of the same account that are reading project files.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of project files read and compiled for one account at the same time.
const MAX_READS_PER_ACCOUNT: usize = 4;

/// Active configurations of projects, grouped by account.
#[derive(Default)]
pub(crate) struct AccountProjects {
    generations: Mutex<HashMap<(u32, WorkDirs), AccountGeneration>>,
    permits: Mutex<HashMap<u32, Arc<Semaphore>>>,
}

struct AccountGeneration {
    since: Instant,
    texts: Vec<ProjectText>,
    base: Arc<ActiveConfig>,
    found: Arc<ActiveConfig>,
}

impl AccountProjects {
    /// Returns the cached configuration for these working directories if it was read a moment ago.
    pub(crate) fn get_fresh(
        &self,
        account: u32,
        place: &WorkDirs,
        base: &Arc<ActiveConfig>,
    ) -> Option<Arc<ActiveConfig>> {
        self.get(account, place, base, |known| known.since.elapsed() < PLACE_CACHE_TIME)
    }

    /// Returns the cached configuration that was compiled from the same file contents.
    pub(crate) fn get_same(
        &self,
        account: u32,
        place: &WorkDirs,
        base: &Arc<ActiveConfig>,
        texts: &[ProjectText],
    ) -> Option<Arc<ActiveConfig>> {
        self.get(account, place, base, |known| known.texts == texts)
    }

    fn get(
        &self,
        account: u32,
        place: &WorkDirs,
        base: &Arc<ActiveConfig>,
        fits: impl FnOnce(&AccountGeneration) -> bool,
    ) -> Option<Arc<ActiveConfig>> {
        let generations = lock(&self.generations);
        let known = generations.get(&(account, place.clone()))?;
        (Arc::ptr_eq(&known.base, base) && fits(known)).then(|| Arc::clone(&known.found))
    }

    pub(crate) fn insert(
        &self,
        account: u32,
        place: &WorkDirs,
        base: Arc<ActiveConfig>,
        texts: Vec<ProjectText>,
        found: &Arc<ActiveConfig>,
    ) {
        let mut generations = lock(&self.generations);
        if generations.len() >= MAX_CACHED_PLACES {
            generations.clear();
        }
        let known = AccountGeneration { since: Instant::now(), texts, base, found: Arc::clone(found) };
        generations.insert((account, place.clone()), known);
    }

    /// Waits until fewer than [`MAX_READS_PER_ACCOUNT`] threads read files for the account. A file system that hangs
    /// delays only the account that uses it.
    pub(crate) async fn acquire_permit(&self, account: u32) -> Result<OwnedSemaphorePermit, Failure> {
        let permits = Arc::clone(
            lock(&self.permits)
                .entry(account)
                .or_insert_with(|| Arc::new(Semaphore::new(MAX_READS_PER_ACCOUNT))),
        );
        match timeout(PERMIT_TIMEOUT, permits.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(read_timed_out()),
        }
    }
}

/// Reads the project files for these working directories with the rights of an account. A thread that hangs keeps its
/// permit.
pub(crate) async fn read_as(
    account: u32,
    place: &WorkDirs,
    person: Option<PathBuf>,
    permit: OwnedSemaphorePermit,
) -> Result<(Vec<ProjectText>, OwnedSemaphorePermit), Failure> {
    let place = place.clone();
    let (sender, receiver) = oneshot::channel();
    spawn_as(account, move |rights| {
        let texts = place.read_project_with(person.as_deref(), rights);
        // The call may already have ended; then the result is dropped.
        drop(sender.send((texts, permit)));
    })?;
    match timeout(PROJECT_READ_TIMEOUT, receiver).await {
        Ok(Ok(read)) => Ok(read),
        _ => Err(read_timed_out()),
    }
}

fn read_timed_out() -> Failure {
    Failure::busy("the rule files of this project could not be read in time")
        .hint("check whether the project's file system responds")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
