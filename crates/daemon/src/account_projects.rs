// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Project files of other accounts, for a daemon of the machine: read with the rights of the caller, in
//! threads that no other account waits for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tenterhook_error::Failure;
use tenterhook_home::{WorkDirs, caller_rights::spawn_as, trust::ProjectText};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

use crate::generations::{BELIEVED, InForce, REMEMBERED};

/// How long a call waits for the files of its project.
const PROJECT_READ_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a call waits for other calls of its account that read project files.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(5);
/// How many project files are read and compiled for one account at the same time.
const MAX_READS_PER_ACCOUNT: usize = 4;

/// What is in force for other accounts.
#[derive(Default)]
pub(crate) struct AccountProjects {
    generations: Mutex<HashMap<(u32, WorkDirs), AccountGeneration>>,
    permits: Mutex<HashMap<u32, Arc<Semaphore>>>,
}

struct AccountGeneration {
    since: Instant,
    texts: Vec<ProjectText>,
    base: Arc<InForce>,
    found: Arc<InForce>,
}

impl AccountProjects {
    /// What was found a moment ago.
    pub(crate) fn get_fresh(&self, account: u32, at: &WorkDirs, base: &Arc<InForce>) -> Option<Arc<InForce>> {
        self.get(account, at, base, |known| known.since.elapsed() < BELIEVED)
    }

    /// What was found for the same texts.
    pub(crate) fn get_same(
        &self,
        account: u32,
        place: &WorkDirs,
        base: &Arc<InForce>,
        texts: &[ProjectText],
    ) -> Option<Arc<InForce>> {
        self.get(account, place, base, |known| known.texts == texts)
    }

    fn get(
        &self,
        account: u32,
        place: &WorkDirs,
        base: &Arc<InForce>,
        fits: impl FnOnce(&AccountGeneration) -> bool,
    ) -> Option<Arc<InForce>> {
        let generations = lock(&self.generations);
        let known = generations.get(&(account, place.clone()))?;
        (Arc::ptr_eq(&known.base, base) && fits(known)).then(|| Arc::clone(&known.found))
    }

    pub(crate) fn insert(
        &self,
        account: u32,
        place: &WorkDirs,
        base: Arc<InForce>,
        texts: Vec<ProjectText>,
        found: &Arc<InForce>,
    ) {
        let mut generations = lock(&self.generations);
        if generations.len() >= REMEMBERED {
            generations.clear();
        }
        let known = AccountGeneration { since: Instant::now(), texts, base, found: Arc::clone(found) };
        generations.insert((account, place.clone()), known);
    }

    /// Waits until fewer threads read for an account. Files that do not answer hold up their account only.
    pub(crate) async fn permit(&self, account: u32) -> Result<OwnedSemaphorePermit, Failure> {
        let permits = Arc::clone(
            lock(&self.permits)
                .entry(account)
                .or_insert_with(|| Arc::new(Semaphore::new(MAX_READS_PER_ACCOUNT))),
        );
        match timeout(PERMIT_TIMEOUT, permits.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(unanswered()),
        }
    }
}

/// The project files of a place, read with the rights of an account. A thread that does not come back keeps
/// its permit.
pub(crate) async fn read_as(
    account: u32,
    place: &WorkDirs,
    person: Option<PathBuf>,
    permit: OwnedSemaphorePermit,
) -> Result<(Vec<ProjectText>, OwnedSemaphorePermit), Failure> {
    let place = place.clone();
    let (said, heard) = oneshot::channel();
    spawn_as(account, move |rights| {
        let texts = place.read_project_with(person.as_deref(), rights);
        // The call may be over.
        drop(said.send((texts, permit)));
    })?;
    match timeout(PROJECT_READ_TIMEOUT, heard).await {
        Ok(Ok(read)) => Ok(read),
        _ => Err(unanswered()),
    }
}

fn unanswered() -> Failure {
    Failure::busy("the rule files of this project could not be read in time")
        .hint("see whether its file system answers")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
