//! A sign-in as its browser knows it.

/// Timeout of a sign-in, seconds.
pub const LIFE_SECONDS: u64 = 600;

/// A sign-in that has begun.
#[derive(Debug)]
pub struct Begun {
    /// Where the browser goes.
    pub url: String,
    /// What it keeps: `HttpOnly`, `SameSite=Lax`.
    pub cookie: String,
}

/// What a browser brings back.
#[derive(Debug, Clone, Copy)]
pub struct Return<'a> {
    /// Its cookie; empty if it has none.
    pub cookie: &'a str,
    /// `state` of the URL.
    pub state: &'a str,
    /// `code` of the URL.
    pub code: &'a str,
    /// `error` and `error_description` of the URL.
    pub error: Option<&'a str>,
}
