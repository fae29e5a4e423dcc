//! Keys and endpoints of the provider: fetched when they are needed, kept for an hour, and requested again with
//! backoff.

use crate::{
    claims::Claims,
    error::{SignInFailure, explained},
    http::Http,
    settings::{Settings, is_safe},
};
use oasis_wire::quantity::Nanos;
use openidconnect::{
    AuthType, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet, IdTokenFields,
    StandardErrorResponse, StandardTokenResponse,
    core::{
        CoreAuthDisplay, CoreAuthPrompt, CoreClientAuthMethod, CoreErrorResponseType, CoreGenderClaim,
        CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata,
        CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
    },
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The answer to a code.
pub type Tokens = StandardTokenResponse<
    IdTokenFields<
        Claims,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;

/// A client of the provider, with its endpoints and keys.
pub type Client = openidconnect::Client<
    Claims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// Age after which keys and endpoints are fetched again.
const MAX_FRESH_AGE: u64 = 3_600 * NANOS_PER_SECOND;
/// Age up to which they are used while the provider does not answer.
const MAX_USABLE_AGE: u64 = 24 * 3_600 * NANOS_PER_SECOND;
/// Time between two fetches for a key that is not known: any token can name one.
const NEW_KEY_FETCH_INTERVAL: u64 = 60 * NANOS_PER_SECOND;
/// Pause after failures.
const MIN_BACKOFF: u64 = NANOS_PER_SECOND;
const MAX_BACKOFF: u64 = 60 * NANOS_PER_SECOND;
/// Most keys.
const MAX_KEYS: usize = 100;

/// The provider.
#[derive(Debug, Default)]
pub struct Provider {
    /// Held during a fetch, so that there is one at a time.
    fetching: Mutex<()>,
    /// Held for a look or a change.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: Option<FetchedClient>,
    /// After failures: when it may be asked again, how long the pause is, and why.
    failed: Option<(Nanos, u64, String)>,
}

#[derive(Debug, Clone)]
struct FetchedClient {
    client: Arc<Client>,
    fetched: Nanos,
}

/// Next step for a request.
enum Step {
    Use(Arc<Client>),
    Fail(String),
    Fetch,
}

impl State {
    /// `is_for_new_keys`: a key is not known.
    fn step(&self, now: Nanos, is_for_new_keys: bool) -> Step {
        let age = |known: &FetchedClient| now.0.saturating_sub(known.fetched.0);
        let fresh = if is_for_new_keys { NEW_KEY_FETCH_INTERVAL } else { MAX_FRESH_AGE };
        if let Some(known) = self.known.as_ref().filter(|known| age(known) < fresh) {
            return Step::Use(known.client.clone());
        }
        match &self.failed {
            Some((again, _, why)) if now < *again => {
                let old = self.known.as_ref().filter(|known| age(known) < MAX_USABLE_AGE);
                old.map_or_else(|| Step::Fail(why.clone()), |known| Step::Use(known.client.clone()))
            }
            _ => Step::Fetch,
        }
    }

    fn note_failure(&mut self, now: Nanos, why: String) {
        let pause = self.failed.as_ref().map_or(MIN_BACKOFF, |(_, pause, _)| (pause * 2).min(MAX_BACKOFF));
        self.failed = Some((Nanos(now.0.saturating_add(pause)), pause, why));
    }
}

impl Provider {
    /// Returns the client, after a fetch if that is due. Blocks while another caller fetches.
    ///
    /// # Errors
    /// If the provider does not answer, and nothing of it is known.
    pub fn client(
        &self,
        settings: &Settings,
        http: &Http,
        now: Nanos,
        is_for_new_keys: bool,
    ) -> Result<Arc<Client>, SignInFailure> {
        if let Step::Use(client) = self.state().step(now, is_for_new_keys) {
            return Ok(client);
        }
        let _fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        // Another caller may have fetched meanwhile.
        match self.state().step(now, is_for_new_keys) {
            Step::Use(client) => return Ok(client),
            Step::Fail(why) => return Err(SignInFailure::Down(why)),
            Step::Fetch => {}
        }
        let fetched = fetch(settings, http);
        let mut state = self.state();
        match fetched {
            Ok(client) => {
                let client = Arc::new(client);
                *state = State {
                    known: Some(FetchedClient { client: client.clone(), fetched: now }),
                    failed: None,
                };
                Ok(client)
            }
            Err(why) => {
                tracing::warn!(
                    issuer = settings.issuer.as_str(),
                    why,
                    "the provider of identity cannot be used: people with a password can sign in"
                );
                state.note_failure(now, why);
                match state.step(now, is_for_new_keys) {
                    Step::Use(client) => Ok(client),
                    Step::Fail(why) => Err(SignInFailure::Down(why)),
                    Step::Fetch => Err(SignInFailure::Down("no answer".into())),
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// OpenID Connect Discovery 1.0: metadata and keys.
fn fetch(settings: &Settings, http: &Http) -> Result<Client, String> {
    let call = |request| http.call(request);
    let metadata =
        CoreProviderMetadata::discover(&settings.issuer, &call).map_err(|error| explained(&error))?;
    let urls = [
        Some(metadata.authorization_endpoint().url()),
        Some(metadata.jwks_uri().url()),
        metadata.token_endpoint().map(|url| url.url()),
        metadata.userinfo_endpoint().map(|url| url.url()),
    ];
    if let Some(url) = urls.into_iter().flatten().find(|url| !is_safe(url)) {
        return Err(format!("its endpoint {url} has no https://"));
    }
    if metadata.token_endpoint().is_none() {
        return Err("it has no token endpoint".into());
    }
    if metadata.jwks().keys().len() > MAX_KEYS {
        return Err(format!("it has more than {MAX_KEYS} keys"));
    }
    // OpenID Connect Discovery 3: absent means client_secret_basic.
    let methods = metadata.token_endpoint_auth_methods_supported();
    let is_basic = methods.is_none_or(|methods| methods.contains(&CoreClientAuthMethod::ClientSecretBasic));
    let auth = if is_basic { AuthType::BasicAuth } else { AuthType::RequestBody };
    let (client, secret) = (settings.client.clone(), settings.secret.clone());
    Ok(Client::from_provider_metadata(metadata, client, secret).set_auth_type(auth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_that_is_down_is_asked_again_with_backoff() {
        let mut state = State::default();
        let (mut now, mut pauses) = (Nanos(0), Vec::new());
        for _ in 0..9 {
            assert!(matches!(state.step(now, false), Step::Fetch));
            state.note_failure(now, "refused".into());
            assert!(matches!(state.step(now, false), Step::Fail(why) if why == "refused"));
            let (again, pause, _) = state.failed.clone().unwrap();
            pauses.push(pause / NANOS_PER_SECOND);
            now = again;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    }
}
