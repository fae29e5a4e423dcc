//! Notices what other processes change in the accounts.

use crate::{access::Access, moment::Moment, repeat::Repeat};
use std::{io, sync::Arc, time::Duration};

/// Interval at which the files are checked. Streams and nodes read the generation once a second, and a follower polls
/// continuously: a revocation takes less than 2 s everywhere.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A thread that reloads the accounts when they change, until this value is dropped.
#[derive(Debug)]
pub struct Watch(#[expect(dead_code, reason = "ends when it is dropped")] Repeat);

impl Watch {
    /// Starts the thread `oasis-access`.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn start(access: Arc<Access>) -> io::Result<Self> {
        let look = move || {
            reload_files(&access);
            POLL_INTERVAL
        };
        Repeat::start("oasis-access", look).map(Self)
    }
}

/// Reloads, and logs each problem once.
fn reload_files(access: &Access) {
    let reloaded = access.reload();
    access.note_trust(Moment::now());
    if let Ok(true) = reloaded {
        tracing::info!(generation = access.generation(), "accounts have changed");
    }
    let cleaned = access.clean_up(Moment::now());
    let problem = match (reloaded, cleaned) {
        (Err(error), _) => Some(format!("rights stay as they were: {error}")),
        (_, Err(error)) => Some(format!("cannot write when tokens were used: {error}")),
        _ => None,
    };
    if let Some(problem) = problem.as_ref().filter(|_| problem != access.problem()) {
        tracing::warn!("accounts: {problem}");
    }
    access.note_problem(problem);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccessConfig, Store, Target, Verb, decide};
    use std::{collections::BTreeSet, fs, thread, time::Instant};

    #[test]
    fn a_token_works_as_soon_as_another_process_has_made_it_and_an_enrollment_uses_it_up() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("access");
        let access = Access::open(&directory, &AccessConfig::default()).unwrap();
        let store = Store::open(&directory).unwrap();
        let now = Moment::now();
        let make = |document: &mut crate::Document| {
            let expires = oasis_wire::quantity::Nanos(u64::MAX / 2);
            document.create_enrollment_token("gate".parse()?, "plant-*".parse().unwrap(), expires, now.wall)
        };
        let (_, secret) = store.change(make).unwrap();
        let gate = access.token(secret.reveal(), now).unwrap();
        let may = |verb, node| decide(&gate, verb, Target::Node(node)).is_allowed();
        assert!(
            may(Verb::Enroll, "plant-7") && !may(Verb::Enroll, "mill") && !may(Verb::ReadLive, "plant-7")
        );
        access.spend(&gate).unwrap();
        assert!(access.spend(&gate).is_err() && access.token(secret.reveal(), now).is_err());
        access.spend(&access.local()).unwrap();
    }

    #[test]
    fn a_change_reaches_open_streams_within_5_s() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("access");
        let access = Arc::new(Access::open(&directory, &AccessConfig::default()).unwrap());
        let _watch = Watch::start(access.clone()).unwrap();
        let mut stream = access.local();
        let store = Store::open(&directory).unwrap();
        let begin = Instant::now();
        store.change(|document| document.set_roles("local", BTreeSet::new())).unwrap();
        while decide(&stream, Verb::ReadLive, Target::Dac).is_allowed() {
            assert!(begin.elapsed() < Duration::from_secs(90), "not noticed");
            thread::park_timeout(Duration::from_millis(5));
            access.check(&mut stream, Moment::now()).unwrap();
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_problem_until_it_can() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("access");
        let access = Access::open(&directory, &AccessConfig::default()).unwrap();
        let store = Store::open(&directory).unwrap();
        store.change(|document| document.set_roles("stranger", BTreeSet::new())).unwrap();
        reload_files(&access);
        assert_eq!(access.problem(), None);

        let good = fs::read(store.file()).unwrap();
        fs::write(store.file(), "version = 7\n").unwrap();
        reload_files(&access);
        let problem = access.problem().unwrap();
        assert!(problem.contains("access.toml") && problem.contains("rights stay"), "{problem}");
        fs::remove_file(store.file()).unwrap();
        reload_files(&access);
        assert!(access.problem().unwrap().contains("is gone"));

        store.change(|_| Ok(())).unwrap_err();
        fs::write(store.file(), good).unwrap();
        fs::set_permissions(store.file(), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        reload_files(&access);
        assert_eq!(access.problem(), None);
    }
}
