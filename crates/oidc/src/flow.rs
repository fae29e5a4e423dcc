//! Binding of the two halves of a sign-in: a cookie with a random text. State, nonce and the verifier of PKCE follow
//! from it by a key of this process, so nothing is remembered.

use crate::{LIFE_SECONDS, error::SignInFailure};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use oasis_wire::quantity::Nanos;
use ring::hmac::{HMAC_SHA256, Key, sign, verify};
use std::io;

/// Bytes of a key and of a random text.
const KEY_BYTES: usize = 32;
/// Letters of them in base64.
const KEY_LETTERS: usize = 43;
/// Longest cookie that is checked, bytes.
const MAX_COOKIE_BYTES: usize = 16 + 2 * KEY_LETTERS + 2;

/// Makes and recognizes flows.
#[derive(Debug)]
pub struct Flows {
    key: Key,
}

/// A sign-in that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// For the browser.
    pub cookie: String,
    /// Goes to the provider, and must come back.
    pub state: String,
    /// Must be in the ID token.
    pub nonce: String,
    /// Shows the provider that the code comes back to who has asked for it.
    pub verifier: String,
}

impl Flows {
    /// # Errors
    /// If the system has no random numbers.
    pub fn new() -> io::Result<Self> {
        Ok(Self { key: Key::new(HMAC_SHA256, &random()?) })
    }

    /// Begins a sign-in.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn begin(&self, now: Nanos) -> io::Result<Flow> {
        let body = format!("{:x}.{}", seconds(now), URL_SAFE_NO_PAD.encode(random()?));
        Ok(self.flow(&body))
    }

    /// Returns the flow of a cookie to which this state belongs.
    ///
    /// # Errors
    /// If the cookie is not of this process or too old, or the state is of another one.
    pub fn find(&self, cookie: &str, state: &str, now: Nanos) -> Result<Flow, SignInFailure> {
        let other = SignInFailure::OtherFlow;
        let Some((body, seal)) = cookie.rsplit_once('.').filter(|_| cookie.len() <= MAX_COOKIE_BYTES) else {
            return Err(other);
        };
        if !self.is_of("cookie", body, seal) || !self.is_of("state", body, state) {
            return Err(other);
        }
        let begun = body.split('.').next().and_then(|begun| u64::from_str_radix(begun, 16).ok());
        match begun {
            Some(begun) if seconds(now).saturating_sub(begun) < LIFE_SECONDS => Ok(self.flow(body)),
            _ => Err(other),
        }
    }

    fn flow(&self, body: &str) -> Flow {
        Flow {
            cookie: format!("{body}.{}", self.of("cookie", body)),
            state: self.of("state", body),
            nonce: self.of("nonce", body),
            verifier: self.of("verifier", body),
        }
    }

    fn of(&self, purpose: &str, body: &str) -> String {
        URL_SAFE_NO_PAD.encode(sign(&self.key, &message(purpose, body)))
    }

    /// In a time that does not depend on where they differ.
    fn is_of(&self, purpose: &str, body: &str, shown: &str) -> bool {
        let tag = URL_SAFE_NO_PAD.decode(shown.get(..KEY_LETTERS + 1).unwrap_or(shown)).unwrap_or_default();
        verify(&self.key, &message(purpose, body), &tag).is_ok()
    }
}

fn message(purpose: &str, body: &str) -> Vec<u8> {
    format!("{purpose}\0{body}").into_bytes()
}

fn seconds(time: Nanos) -> u64 {
    time.0 / 1_000_000_000
}

fn random() -> io::Result<[u8; KEY_BYTES]> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(format!("no random numbers: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: u64 = LIFE_SECONDS * 1_000_000_000;

    #[test]
    fn cookie_and_state_belong_together() {
        let flows = Flows::new().unwrap();
        let [one, other] = [0, 1].map(|_| flows.begin(Nanos(5)).unwrap());
        assert_eq!(flows.find(&one.cookie, &one.state, Nanos(LIFE - 1)).unwrap(), one);
        for (cookie, state) in [
            (one.cookie.as_str(), other.state.as_str()),
            (&one.cookie, ""),
            (&one.cookie, &one.nonce),
            ("", &one.state),
            (&one.cookie[1..], &one.state),
            (&format!("0{}", one.cookie), &one.state),
            (&one.cookie, &format!("{}A", one.state)),
        ] {
            assert!(flows.find(cookie, state, Nanos(6)).is_err(), "{cookie} {state}");
        }
        assert!(flows.find(&one.cookie, &one.state, Nanos(LIFE + 5)).is_err());
        // The cookie of another process.
        assert!(Flows::new().unwrap().find(&one.cookie, &one.state, Nanos(6)).is_err());
    }

    #[test]
    fn each_text_of_a_flow_is_a_secret_of_its_own() {
        let flow = Flows::new().unwrap().begin(Nanos(0)).unwrap();
        let texts = [&flow.state, &flow.nonce, &flow.verifier];
        // RFC 7636 4.1: 43 to 128 letters.
        assert!(texts.iter().all(|text| text.len() == KEY_LETTERS));
        assert!(flow.state != flow.nonce && flow.nonce != flow.verifier && flow.state != flow.verifier);
        assert!(texts.iter().all(|text| !flow.cookie.contains(text.as_str())));
    }
}
