//! Sign-in of the DAC's own user without an account (`access.local = "token"`): a token in a file that only this user
//! can read, for commands, and links for the page. The file is named by the port of the page: several DACs share a
//! folder, and a process of another user that takes the port of a DAC that has ended finds a token that opens nothing.

use crate::{
    private_file,
    secret::{Digest, Secret},
    token::{self, TokenId},
};
use oasis_wire::quantity::Nanos;
use std::{
    collections::VecDeque,
    fs, io,
    path::{Path, PathBuf},
};

/// Lifetime of a link, nanoseconds.
const LINK_LIFETIME_NANOS: u64 = 600_000_000_000;
/// Most unused links; the oldest one makes room.
const MAX_UNUSED_LINKS: usize = 16;

/// Lifetime of a link, seconds.
pub const LINK_SECONDS: u64 = LINK_LIFETIME_NANOS / 1_000_000_000;

/// Returns the file with the token of a DAC whose page is at this port.
pub fn host_token_file(folder: &Path, port: u16) -> PathBuf {
    folder.join(format!("host-{port}.token"))
}

/// The token and the links of a DAC that is closed to its host.
#[derive(Debug)]
pub(crate) struct Host {
    token: Digest,
    /// When each was made, oldest first.
    links: VecDeque<(Nanos, Digest)>,
}

impl Host {
    /// Makes another token, and writes it to its file.
    pub(crate) fn create(folder: &Path, port: u16) -> io::Result<Self> {
        let (secret, token) = token::make(TokenId::HOST)?;
        private_file::replace(&host_token_file(folder, port), format!("{}\n", secret.reveal()).as_bytes())?;
        Ok(Self { token, links: VecDeque::new() })
    }

    /// Removes the token of an earlier DAC at this port.
    pub(crate) fn remove(folder: &Path, port: u16) -> io::Result<()> {
        match fs::remove_file(host_token_file(folder, port)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn is_token(&self, shown: &Digest) -> bool {
        self.token.matches(shown)
    }

    /// Makes the code of a link.
    pub(crate) fn link(&mut self, now: Nanos) -> io::Result<Secret> {
        let code = Secret::random()?;
        self.purge(now);
        if self.links.len() >= MAX_UNUSED_LINKS {
            self.links.pop_front();
        }
        self.links.push_back((now, Digest::of(code.reveal())));
        Ok(code)
    }

    /// Takes a link, which cannot be used again. Returns whether it was good.
    pub(crate) fn take(&mut self, code: &str, now: Nanos) -> bool {
        self.purge(now);
        let shown = Digest::of(code);
        let before = self.links.len();
        self.links.retain(|(_, kept)| !kept.matches(&shown));
        self.links.len() < before
    }

    fn purge(&mut self, now: Nanos) {
        self.links.retain(|(made, _)| now.0.saturating_sub(made.0) < LINK_LIFETIME_NANOS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_token_is_in_a_file_that_only_its_owner_reads() {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::create(folder.path(), 7070).unwrap();
        let file = host_token_file(folder.path(), 7070);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let shown = |file: &Path| token::parse(fs::read_to_string(file).unwrap().trim()).unwrap();
        assert!(shown(&file).0 == TokenId::HOST && host.is_token(&shown(&file).1));
        // The next DAC at the port has another one.
        let next = Host::create(folder.path(), 7070).unwrap();
        assert!(next.is_token(&shown(&file).1) && !host.is_token(&shown(&file).1));
        Host::remove(folder.path(), 7070).unwrap();
        Host::remove(folder.path(), 7070).unwrap();
        assert!(!file.exists());
    }

    #[test]
    fn a_link_is_good_once_and_for_ten_minutes() {
        let folder = tempfile::tempdir().unwrap();
        let mut host = Host::create(folder.path(), 1).unwrap();
        let [used, old] = [0, 1].map(|_| host.link(Nanos(5)).unwrap());
        assert!(!host.take("", Nanos(6)) && host.take(used.reveal(), Nanos(LINK_LIFETIME_NANOS + 4)));
        assert!(
            !host.take(used.reveal(), Nanos(LINK_LIFETIME_NANOS + 4))
                && !host.take(old.reveal(), Nanos(LINK_LIFETIME_NANOS + 5))
        );
    }

    #[test]
    fn the_oldest_of_too_many_links_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let mut host = Host::create(folder.path(), 1).unwrap();
        let links: Vec<_> = (0..=MAX_UNUSED_LINKS).map(|_| host.link(Nanos(0)).unwrap()).collect();
        let is_good: Vec<_> = links.iter().map(|link| host.take(link.reveal(), Nanos(0))).collect();
        assert!(!is_good[0] && is_good[1..].iter().all(|is_good| *is_good));
    }
}
