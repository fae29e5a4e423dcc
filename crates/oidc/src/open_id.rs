//! The two halves of a sign-in.

use crate::{
    browser::{BegunSignIn, SignInReturn},
    claims::{Claims, identity_of, is_complete},
    error::{ConfigError, SignInFailure, explained, shortened},
    flow::{Flow, Flows},
    http::Http,
    identity::Identity,
    provider::{Client, Provider, Tokens},
    settings::Settings,
};
use oasis_access::OidcConfig;
use oasis_tls::ClientFiles;
use oasis_wire::quantity::Nanos;
use openidconnect::{
    AuthenticationFlow, AuthorizationCode, ClaimsVerificationError, CsrfToken, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope, SignatureVerificationError, UserInfoClaims,
    core::{CoreGenderClaim, CoreJwsSigningAlgorithm, CoreResponseType},
};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Permitted signatures of ID tokens: with a key of the provider alone. `none`, and secrets that the client knows too,
/// are not among them.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 6] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];
/// Longest code that is sent back, bytes.
const MAX_CODE_BYTES: usize = 4_096;

/// Sign-in by a provider.
#[derive(Debug)]
pub struct OpenId {
    settings: Settings,
    http: Http,
    flows: Flows,
    provider: Provider,
}

impl OpenId {
    /// Checks the settings; none if people do not sign in so. The provider is not asked yet.
    ///
    /// # Errors
    /// If a setting or a file cannot be used.
    pub fn new(config: OidcConfig) -> Result<Option<Self>, ConfigError> {
        if !config.is_enabled() {
            return Ok(None);
        }
        let settings = Settings::new(config)?;
        let ca = &settings.config.ca_file;
        let ca = (!ca.as_os_str().is_empty()).then(|| ca.clone());
        let http = Http::new(&ClientFiles { ca, ..ClientFiles::default() })?;
        let flows = Flows::new().map_err(ConfigError::Random)?;
        Ok(Some(Self { settings, http, flows, provider: Provider::default() }))
    }

    /// Returns the settings.
    pub fn config(&self) -> &OidcConfig {
        &self.settings.config
    }

    /// Returns where the provider sends browsers back: as set, or at the address that this browser has asked for.
    pub fn redirect_url<'a>(&'a self, derived: &'a str) -> &'a str {
        let configured = self.settings.config.redirect_url.as_str();
        if configured.is_empty() { derived } else { configured }
    }

    /// Begins a sign-in. Blocks while the provider is asked for its endpoints, 20 s at most.
    ///
    /// # Errors
    /// If the provider does not answer.
    pub fn begin(&self, redirect_url: &str, now: Nanos) -> Result<BegunSignIn, SignInFailure> {
        let client = self.client(now, false)?;
        let Flow { cookie, state, nonce, verifier } = self.flows.begin(now)?;
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&PkceCodeVerifier::new(verifier));
        let redirect_url = redirect(redirect_url)?;
        let flow = AuthenticationFlow::<CoreResponseType>::AuthorizationCode;
        let mut request = client.authorize_url(flow, || CsrfToken::new(state), || Nonce::new(nonce));
        for scope in &self.settings.config.scopes {
            request = request.add_scope(Scope::new(scope.clone()));
        }
        let request = request.set_pkce_challenge(challenge).set_redirect_uri(Cow::Owned(redirect_url));
        Ok(BegunSignIn { url: request.url().0.into(), cookie })
    }

    /// Learns who has come back. Blocks while the provider is asked for tokens and claims, 40 s at most.
    ///
    /// # Errors
    /// If the answer is not of a sign-in of this browser, or the provider or its ID token is not good.
    pub fn complete(
        &self,
        back: SignInReturn<'_>,
        redirect_url: &str,
        now: Nanos,
    ) -> Result<Identity, SignInFailure> {
        let flow = self.flows.find(back.cookie, back.state, now)?;
        if let Some(error) = back.error {
            return Err(SignInFailure::Denied(shortened(error)));
        }
        if back.code.is_empty() || back.code.len() > MAX_CODE_BYTES {
            return Err(SignInFailure::Code("it has sent none".into()));
        }
        let client = self.client(now, false)?;
        let tokens = self.exchange(&client, back.code, &flow, redirect_url)?;
        let nonce = Nonce::new(flow.nonce);
        let (subject, claims) = match verified(&client, &tokens, &nonce) {
            // The provider may have another key since.
            Err(Verification::UnknownKey(_)) => {
                let client = self.client(now, true)?;
                verified(&client, &tokens, &nonce).map_err(SignInFailure::from)?
            }
            other => other.map_err(SignInFailure::from)?,
        };
        let claims = self.completed(&client, &tokens, &subject, claims)?;
        identity_of(&self.settings.config, self.settings.issuer.as_str(), &subject, &claims)
    }

    fn client(&self, now: Nanos, is_for_new_keys: bool) -> Result<std::sync::Arc<Client>, SignInFailure> {
        self.provider.client(&self.settings, &self.http, now, is_for_new_keys)
    }

    fn exchange(
        &self,
        client: &Client,
        code: &str,
        flow: &Flow,
        redirect_url: &str,
    ) -> Result<Tokens, SignInFailure> {
        let request = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .map_err(|error| SignInFailure::Down(explained(&error)))?
            .set_pkce_verifier(PkceCodeVerifier::new(flow.verifier.clone()))
            .set_redirect_uri(Cow::Owned(redirect(redirect_url)?));
        let call = |request| self.http.call(request);
        request.request(&call).map_err(|error| SignInFailure::Code(explained(&error)))
    }

    /// Adds the claims that only the endpoint for them has, if name or groups are missing (OpenID Connect Core 5.4).
    fn completed(
        &self,
        client: &Client,
        tokens: &Tokens,
        subject: &str,
        mut claims: Map<String, Value>,
    ) -> Result<Map<String, Value>, SignInFailure> {
        if is_complete(&self.settings.config, &claims) || client.user_info_url().is_none() {
            return Ok(claims);
        }
        let failed = |error: &dyn std::error::Error| SignInFailure::Down(explained(error));
        let subject = openidconnect::SubjectIdentifier::new(subject.to_owned());
        let request = client.user_info(tokens.access_token().clone(), Some(subject));
        let request = request.map_err(|error| failed(&error))?;
        let call = |request| self.http.call(request);
        let more: UserInfoClaims<Claims, CoreGenderClaim> =
            request.request(&call).map_err(|error| failed(&error))?;
        for (name, value) in as_map(&more) {
            // Signed claims take precedence.
            claims.entry(name).or_insert(value);
        }
        Ok(claims)
    }
}

fn redirect(url: &str) -> Result<RedirectUrl, SignInFailure> {
    RedirectUrl::new(url.to_owned()).map_err(|_| {
        SignInFailure::Down("there is no address to come back to (access.oidc.redirect_url)".into())
    })
}

/// Why an ID token is refused.
enum Verification {
    UnknownKey(String),
    Other(String),
}

impl From<Verification> for SignInFailure {
    fn from(refused: Verification) -> Self {
        let (Verification::UnknownKey(why) | Verification::Other(why)) = refused;
        Self::IdToken(why)
    }
}

/// OpenID Connect Core 3.1.3.7: issuer, audience, signature, algorithm, expiry and nonce. Returns the subject and all claims.
fn verified(
    client: &Client,
    tokens: &Tokens,
    nonce: &Nonce,
) -> Result<(String, Map<String, Value>), Verification> {
    let token = tokens.extra_fields().id_token();
    let token = token.ok_or_else(|| Verification::Other("there is none".into()))?;
    let verifier = client.id_token_verifier().set_allowed_algs(ALGORITHMS);
    match token.claims(&verifier, nonce) {
        Ok(claims) => Ok((claims.subject().as_str().to_owned(), as_map(claims))),
        Err(ClaimsVerificationError::SignatureVerification(
            error @ SignatureVerificationError::NoMatchingKey,
        )) => Err(Verification::UnknownKey(explained(&error))),
        Err(error) => Err(Verification::Other(explained(&error))),
    }
}

/// All claims, those of the standard too.
fn as_map(claims: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(claims) {
        Ok(Value::Object(claims)) => claims,
        _ => Map::new(),
    }
}
