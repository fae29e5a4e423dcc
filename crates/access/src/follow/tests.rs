use super::*;
use crate::{
    Access, AccessConfig, Ended, EnrolledCertificate, Moment, Name, NewToken, NodeRefusal, ShownCertificate,
    Store, StoreError, Target, Time, Verb, Watch, decide,
    secret::{Digest, Secret},
};
use oasis_wire::quantity::Nanos;
use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, path::Path, sync::Arc};
use tempfile::TempDir;

const SOURCE: &str = "https://dac-1.example.org:7070";
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A DAC that keeps accounts, and one that follows it.
struct Pair {
    folder: TempDir,
    leader: Access,
    follower: Access,
}

fn config(max_age: u64) -> AccessConfig {
    AccessConfig { follow: vec![SOURCE.into()], follow_max_age_seconds: max_age, ..AccessConfig::default() }
}

fn names(names: &[&str]) -> BTreeSet<Name> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn later(seconds: u64) -> Moment {
    let Moment { wall, steady } = Moment::now();
    Moment {
        wall: Nanos(wall.0 + seconds * NANOS_PER_SECOND),
        steady: Nanos(steady.0 + seconds * NANOS_PER_SECOND),
    }
}

impl Pair {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let leader = Access::open(&folder.path().join("leader"), &AccessConfig::default()).unwrap();
        let follower = Self::follower(folder.path(), 100);
        Self { folder, leader, follower }
    }

    fn follower(folder: &Path, max_age: u64) -> Access {
        Access::open(&folder.join("follower"), &config(max_age)).unwrap()
    }

    /// One request and its answer.
    fn follow(&self) -> Result<bool, FollowError> {
        follow(&self.follower, &self.leader, Moment::now())
    }

    fn token(&self, role: &str) -> Secret {
        let new = NewToken {
            name: "grafana".parse().unwrap(),
            roles: names(&[role]),
            owner: None,
            embed: false,
            scope: Vec::new(),
            expires: None,
        };
        self.leader.change(|accounts| accounts.create_token(new, Nanos(0))).unwrap().1
    }

    fn follower_file(&self, file: &str) -> std::path::PathBuf {
        self.folder.path().join("follower").join(file)
    }
}

fn follow(follower: &Access, source: &Access, now: Moment) -> Result<bool, FollowError> {
    let answer = source.copy_since(follower.copy_position().as_ref())?;
    // As it comes over the wire.
    let answer: AccountsCopy = serde_json::from_str(&serde_json::to_string(&answer).unwrap()).unwrap();
    follower.take_copy(SOURCE, &answer, now)
}

fn enrolled(key: &str) -> EnrolledCertificate {
    EnrolledCertificate {
        sha256: Digest::of(&format!("certificate of {key}")),
        key: Digest::of(key),
        enrolled: Time(Nanos(9 * NANOS_PER_SECOND)),
        begins: Time(Nanos(8 * NANOS_PER_SECOND)),
        ends: Time(Nanos(u64::MAX / 2 / NANOS_PER_SECOND * NANOS_PER_SECOND)),
        by: "program:enroll".into(),
        revoked: None,
    }
}

fn check(access: &Access, known: &EnrolledCertificate) -> Result<(), NodeRefusal> {
    let EnrolledCertificate { sha256, key, begins, .. } = *known;
    access.check_node(ShownCertificate { name: "plant", sha256, key, begins: begins.0 })
}

#[test]
fn tokens_roles_and_nodes_of_the_leader_count_at_the_follower_and_so_do_revocations() {
    let pair = Pair::new();
    let secret = pair.token("operator");
    let known = enrolled("a");
    pair.leader.enroll("plant", known.clone()).unwrap();
    let none = pair.follower.token(secret.reveal(), Moment::now()).unwrap_err();
    assert_eq!(none, Ended::Outdated, "nothing was copied yet");
    assert!(pair.follow().unwrap());
    let mut stream = pair.follower.token(secret.reveal(), Moment::now()).unwrap();
    assert!(decide(&stream, Verb::Enable, Target::Node("plant")).is_allowed());
    assert_eq!(check(&pair.follower, &known), Ok(()));
    assert!(!pair.follow().unwrap(), "nothing has changed");

    let store = Store::open(&pair.folder.path().join("leader")).unwrap();
    store.change_nodes(|nodes| nodes.revoke("plant", Nanos(10 * NANOS_PER_SECOND))).unwrap();
    store.change(|accounts| accounts.revoke_token("grafana")).unwrap();
    pair.leader.reload().unwrap();
    let before = pair.follower.generation();
    assert!(pair.follow().unwrap());
    assert_ne!(pair.follower.generation(), before, "connected nodes and open streams look again");
    assert!(matches!(check(&pair.follower, &known), Err(NodeRefusal::Revoked(_))));
    assert_eq!(pair.follower.check(&mut stream, Moment::now()), Err(Ended::TokenUnknown));
}

#[test]
fn only_what_has_changed_is_sent() {
    let pair = Pair::new();
    pair.follow().unwrap();
    let position = pair.follower.copy_position();
    pair.leader.enroll("plant", enrolled("a")).unwrap();
    let answer = pair.leader.copy_since(position.as_ref()).unwrap();
    assert!(answer.accounts.is_none() && answer.nodes.is_some());
    // A number that changed for another reason sends nothing.
    pair.follow().unwrap();
    pair.leader.sign_out("no cookie");
    let answer = pair.leader.copy_since(pair.follower.copy_position().as_ref()).unwrap();
    assert!(answer.accounts.is_none() && answer.nodes.is_none());
    // The position of another folder does not count.
    let other = Position { authority: "0".repeat(32), ..position.unwrap() };
    assert!(pair.leader.copy_since(Some(&other)).unwrap().accounts.is_some());
}

#[test]
fn revisions_outlive_a_restart_and_changes_by_other_processes() {
    let pair = Pair::new();
    pair.token("viewer");
    let position = |access: &Access| access.copy_since(None).unwrap().position;
    let first = position(&pair.leader);
    let leader = pair.folder.path().join("leader");
    Store::open(&leader).unwrap().change(|accounts| accounts.set_roles("local", names(&[]))).unwrap();
    let restarted = Access::open(&leader, &AccessConfig::default()).unwrap();
    let next = position(&restarted);
    assert_eq!(
        (&next.authority, next.accounts, next.nodes),
        (&first.authority, first.accounts + 1, first.nodes)
    );
    assert_eq!(position(&Access::open(&leader, &AccessConfig::default()).unwrap()), next);
}

#[test]
fn a_restarted_follower_has_its_copy_and_trusts_it_for_a_bounded_time() {
    let pair = Pair::new();
    let secret = pair.token("viewer");
    pair.leader.enroll("plant", enrolled("a")).unwrap();
    pair.follow().unwrap();
    let again = Pair::follower(pair.folder.path(), 100);
    assert_eq!(again.copy_position(), pair.follower.copy_position());
    again.token(secret.reveal(), later(50)).unwrap();
    assert_eq!(again.token(secret.reveal(), later(101)).unwrap_err(), Ended::Outdated);
    let state = again.copy_state(Moment::now()).unwrap();
    assert!(state.is_trusted && state.source == SOURCE, "{state:?}");
    let state = again.copy_state(later(101)).unwrap();
    assert!(!state.is_trusted && state.problem.is_some() && state.confirmed.is_some(), "{state:?}");
    // A confirmation makes it good again.
    follow(&again, &pair.leader, later(200)).unwrap();
    again.token(secret.reveal(), later(201)).unwrap();
}

#[test]
fn open_streams_and_nodes_notice_that_a_copy_is_too_old() {
    let pair = Pair::new();
    pair.token("viewer");
    pair.leader.change(|accounts| accounts.set_roles("stranger", names(&["viewer"]))).unwrap();
    pair.follow().unwrap();
    assert!(decide(&pair.follower.stranger(), Verb::ReadLive, Target::Dac).is_allowed());
    let before = pair.follower.generation();
    pair.follower.note_trust(later(50));
    assert_eq!(pair.follower.generation(), before);
    pair.follower.note_trust(later(101));
    assert_ne!(pair.follower.generation(), before);
    // A new follower has nothing that it could trust.
    let fresh = Access::open(&pair.folder.path().join("fresh"), &config(100)).unwrap();
    assert!(
        !fresh.is_trusted(Moment::now())
            && !decide(&fresh.stranger(), Verb::ReadLive, Target::Dac).is_allowed()
    );
    assert_eq!(check(&fresh, &enrolled("a")), Err(NodeRefusal::Outdated));
}

#[test]
fn a_copy_is_changed_at_its_source_alone() {
    let pair = Pair::new();
    pair.token("viewer");
    pair.follow().unwrap();
    let here = pair.follower.change(|accounts| accounts.revoke_token("grafana")).unwrap_err();
    assert_eq!(here.to_string(), format!("the accounts of this DAC are a copy: change them at {SOURCE}"));
    // By the command line too.
    let store = Store::open(&pair.folder.path().join("follower")).unwrap();
    let revoked = store.change_nodes(|nodes| nodes.revoke("plant", Nanos(0)));
    assert!(matches!(revoked, Err(StoreError::Follows { .. })));
    assert!(matches!(pair.follower.enroll("plant", enrolled("a")), Err(StoreError::Follows { .. })));
}

#[test]
fn a_folder_is_a_copy_or_none() {
    let pair = Pair::new();
    pair.token("viewer");
    let over = Access::open(&pair.folder.path().join("leader"), &config(100)).unwrap_err();
    assert!(matches!(over, StoreError::NotACopy { .. }), "{over}");
    pair.follow().unwrap();
    let folder = pair.folder.path().join("follower");
    let alone = Access::open(&folder, &AccessConfig::default()).unwrap_err().to_string();
    assert!(alone.contains(SOURCE) && alone.contains("remove copy.toml"), "{alone}");
    // The copy becomes the accounts of a DAC that keeps them.
    fs::remove_file(pair.follower_file("copy.toml")).unwrap();
    let promoted = Access::open(&folder, &AccessConfig::default()).unwrap();
    promoted.change(|accounts| accounts.revoke_token("grafana")).unwrap();
}

#[test]
fn a_copy_that_others_can_read_is_refused() {
    let pair = Pair::new();
    pair.token("viewer");
    pair.leader.enroll("plant", enrolled("a")).unwrap();
    pair.follow().unwrap();
    for file in ["access.toml", "nodes.toml", "copy.toml"] {
        let path = pair.follower_file(file);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = Access::open(&pair.folder.path().join("follower"), &config(100)).unwrap_err();
        assert!(matches!(refused, StoreError::OpenToOthers { .. }), "{file}: {refused}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn a_refused_answer_changes_nothing() {
    let pair = Pair::new();
    let secret = pair.token("viewer");
    pair.follow().unwrap();
    let older = pair.leader.copy_since(None).unwrap();
    pair.leader.change(|accounts| accounts.revoke_token("grafana")).unwrap();
    pair.follow().unwrap();
    let replayed = pair.follower.take_copy(SOURCE, &older, Moment::now()).unwrap_err().to_string();
    assert!(replayed.contains("accounts have revision") && replayed.contains("older than"), "{replayed}");
    assert_eq!(pair.follower.token(secret.reveal(), Moment::now()).unwrap_err(), Ended::TokenUnknown);
    let other = Access::open(&pair.folder.path().join("other"), &AccessConfig::default()).unwrap();
    let foreign = follow(&pair.follower, &other, Moment::now()).unwrap_err().to_string();
    assert!(foreign.contains("another authority"), "{foreign}");
    // Also after a restart.
    let again = Pair::follower(pair.folder.path(), 100);
    assert!(again.take_copy(SOURCE, &older, Moment::now()).is_err());
}

#[test]
fn a_copy_is_not_copied_again_and_no_dac_follows_itself() {
    let pair = Pair::new();
    pair.token("viewer");
    pair.follow().unwrap();
    let again = pair.follower.copy_since(None).unwrap_err().to_string();
    assert!(again.contains(SOURCE) && again.contains("access.follow"), "{again}");
    let answer = pair.leader.copy_since(None).unwrap();
    let own = AccountsCopy { path: vec![pair.follower.process_name().unwrap().to_owned()], ..answer };
    let itself = pair.follower.take_copy(SOURCE, &own, Moment::now()).unwrap_err().to_string();
    assert!(itself.contains("follows itself"), "{itself}");
}

#[test]
fn the_watch_of_a_follower_takes_what_was_copied_for_its_own_file() {
    let pair = Pair::new();
    pair.token("viewer");
    pair.follow().unwrap();
    let follower = Arc::new(Pair::follower(pair.folder.path(), 100));
    let _watch = Watch::start(follower.clone()).unwrap();
    assert!(!follower.reload().unwrap());
    assert_eq!(follower.problem(), None);
}
