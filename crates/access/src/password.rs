//! Passwords: which are accepted, and how they are kept.

use crate::{guess::tried_first, secret::random};
use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use std::{fmt, io};

/// Shortest password, characters.
pub const MIN_PASSWORD_CHARS: usize = 12;
/// Longest password, bytes: hashing takes no longer for it, but reading it would.
pub const MAX_PASSWORD_BYTES: usize = 1_024;
/// Most memory and passes that a stored hash may ask for, KiB and rounds: a file that was edited must not stop the DAC.
const MAX_HASH_COST: (u32, u32) = (1 << 20, 64);

/// Why a password is refused or not hashed.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// Too easy to guess.
    #[error("the password has {0} characters: use at least {MIN_PASSWORD_CHARS}")]
    Short(usize),
    /// Beyond the bound.
    #[error("the password has {0} bytes: use at most {MAX_PASSWORD_BYTES}")]
    Long(usize),
    /// The name is the first thing that is tried.
    #[error("the password contains the name of the user: choose another one")]
    HasName,
    /// Built of what is tried first.
    #[error("the password is easy to guess ({0}): use several unrelated words, or a password manager")]
    Guessable(&'static str),
    /// Out of memory or of random numbers.
    #[error("the password cannot be hashed: {0}")]
    Hashing(#[from] io::Error),
}

/// Cost of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashCost {
    /// Memory, KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
}

/// OWASP's Password Storage Cheat Sheet: argon2id with 19 MiB, 2 passes and 1 lane.
impl Default for HashCost {
    fn default() -> Self {
        Self { memory_kib: 19 * 1_024, passes: 2 }
    }
}

/// A password as it is kept: argon2id with a salt of its own, as a PHC string.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredPassword(Box<str>);

impl StoredPassword {
    /// Hashes a new password. Takes tens of milliseconds and the memory of its cost.
    ///
    /// # Errors
    /// If the password is refused, or cannot be hashed.
    pub fn new(user: &str, password: &str, cost: HashCost) -> Result<Self, PasswordError> {
        check(user, password)?;
        Ok(Self::hash(password.as_bytes(), cost)?)
    }

    /// Makes one that no password matches, and that takes as long to check.
    pub(crate) fn decoy(cost: HashCost) -> io::Result<Self> {
        Self::hash(&random::<32>()?, cost)
    }

    fn hash(password: &[u8], cost: HashCost) -> io::Result<Self> {
        let failed = |error: &dyn fmt::Display| io::Error::other(error.to_string());
        let params = Params::new(cost.memory_kib, cost.passes, 1, None).map_err(|error| failed(&error))?;
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let salt = random::<16>()?;
        let hash = argon.hash_password_with_salt(password, &salt).map_err(|error| failed(&error))?;
        Ok(Self(hash.to_string().into()))
    }

    /// Parses a PHC string.
    pub fn parse(text: &str) -> Option<Self> {
        let hash = (text.len() <= 512).then(|| PasswordHash::new(text).ok())??;
        let params = Params::try_from(&hash).ok()?;
        let is_bounded =
            params.m_cost() <= MAX_HASH_COST.0 && params.t_cost() <= MAX_HASH_COST.1 && params.p_cost() <= 16;
        let is_complete = hash.salt.is_some() && hash.hash.is_some();
        (text.starts_with("$argon2id$") && is_bounded && is_complete).then(|| Self(text.into()))
    }

    /// Whether this is the password. Takes as long for any of at most [`MAX_PASSWORD_BYTES`] bytes.
    pub(crate) fn matches(&self, password: &str) -> bool {
        let is_bounded = password.len() <= MAX_PASSWORD_BYTES;
        let shown = if is_bounded { password.as_bytes() } else { b"" };
        let parsed = PasswordHash::new(&self.0);
        #[cfg(test)]
        checks::record(&self.0);
        let is_match = parsed.is_ok_and(|hash| Argon2::default().verify_password(shown, &hash).is_ok());
        is_match && is_bounded
    }

    /// Whether one check costs much more than one of a password that was set here: only this DAC may choose such a
    /// cost.
    pub(crate) fn is_costly(&self) -> bool {
        let HashCost { memory_kib, passes } = HashCost::default();
        let params = PasswordHash::new(&self.0).ok().and_then(|hash| Params::try_from(&hash).ok());
        params.is_none_or(|params| {
            params.m_cost() > 4 * memory_kib || params.t_cost() > 4 * passes || params.p_cost() > 4
        })
    }

    /// Returns the PHC string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoredPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredPassword(…)")
    }
}

fn check(user: &str, password: &str) -> Result<(), PasswordError> {
    let (characters, bytes) = (password.chars().count(), password.len());
    if bytes > MAX_PASSWORD_BYTES {
        return Err(PasswordError::Long(bytes));
    }
    if characters < MIN_PASSWORD_CHARS {
        return Err(PasswordError::Short(characters));
    }
    if user.len() > 2 && password.to_lowercase().contains(&user.to_lowercase()) {
        return Err(PasswordError::HasName);
    }
    tried_first(password).map_or(Ok(()), |why| Err(PasswordError::Guessable(why)))
}

/// The checks of a thread, for tests of what a refusal costs: their time depends on what else the machine does.
#[cfg(test)]
pub(crate) mod checks {
    use super::{HashCost, Params, PasswordHash};
    use std::cell::RefCell;

    thread_local! {
        static COSTS: RefCell<Vec<HashCost>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn record(hash: &str) {
        let params = Params::try_from(&PasswordHash::new(hash).unwrap()).unwrap();
        let cost = HashCost { memory_kib: params.m_cost(), passes: params.t_cost() };
        COSTS.with_borrow_mut(|costs| costs.push(cost));
    }

    /// Returns the costs of all checks of this thread since the last call.
    pub(crate) fn take() -> Vec<HashCost> {
        COSTS.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) const QUICK: HashCost = HashCost { memory_kib: 8, passes: 1 };

    #[test]
    fn only_the_password_matches() {
        let stored = StoredPassword::new("ada", "correct horse battery", QUICK).unwrap();
        assert!(stored.matches("correct horse battery"));
        assert!(!stored.matches("correct horse batterz") && !stored.matches(""));
        assert!(!stored.matches(&"x".repeat(MAX_PASSWORD_BYTES + 1)));
        assert_eq!(StoredPassword::parse(stored.as_str()), Some(stored.clone()));
        assert_ne!(
            StoredPassword::new("ada", "correct horse battery", QUICK).unwrap(),
            stored,
            "another salt"
        );
        assert!(!format!("{stored:?}").contains("argon2"));
    }

    #[test]
    fn the_default_cost_is_that_of_owasp() {
        let stored = StoredPassword::decoy(HashCost::default()).unwrap();
        assert!(stored.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", stored.as_str());
    }

    #[test]
    fn passwords_that_are_tried_first_are_refused() {
        let refused = |password: &str| StoredPassword::new("ada", password, QUICK).unwrap_err();
        assert!(matches!(refused("short"), PasswordError::Short(5)));
        assert!(matches!(refused(&"x".repeat(1_025)), PasswordError::Long(1_025)));
        assert!(matches!(refused("i am ADA of course"), PasswordError::HasName));
        let said = refused("passwordpassword").to_string();
        assert_eq!(
            said,
            "the password is easy to guess (a common password): use several unrelated words, or a password manager"
        );
    }

    #[test]
    fn stored_texts_that_cost_too_much_are_refused() {
        let good = StoredPassword::decoy(QUICK).unwrap();
        for (from, to) in
            [("m=8", "m=4294967295"), ("t=1", "t=4294967295"), ("argon2id", "argon2i"), ("$", "")]
        {
            let bad = good.as_str().replace(from, to);
            assert!(StoredPassword::parse(&bad).is_none(), "{bad}");
        }
        assert!(StoredPassword::parse("$argon2id$v=19$m=8,t=1,p=1").is_none());
    }
}
