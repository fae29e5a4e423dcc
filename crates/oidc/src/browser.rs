//! A sign-in as its browser knows it.

/// Timeout of a sign-in, seconds.
pub const LIFE_SECONDS: u64 = 600;

/// A sign-in that has begun.
#[derive(Debug)]
pub struct BegunSignIn {
    /// URL that the browser is sent to.
    pub url: String,
    /// Cookie that the browser keeps: `HttpOnly`, `SameSite=Lax`.
    pub cookie: String,
}

/// Parameters with which a browser returns.
#[derive(Debug, Clone, Copy)]
pub struct SignInReturn<'a> {
    /// Its cookie; empty if it has none.
    pub cookie: &'a str,
    /// `state` of the URL.
    pub state: &'a str,
    /// `code` of the URL.
    pub code: &'a str,
    /// `error` and `error_description` of the URL.
    pub error: Option<&'a str>,
}
