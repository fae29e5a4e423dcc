//! Headers of every answer that tell a browser what it may do with it.

use crate::{config::HttpConfig, proxies::Proxied};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Scripts, styles, workers and sockets from this server alone; nothing inline.
const POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'";
/// Features that the page does not use. It copies to the clipboard, and shows panels on the whole screen.
const FEATURES: &str = "accelerometer=(), autoplay=(), camera=(), \
                        display-capture=(), encrypted-media=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), \
                        microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=(), xr-spatial-tracking=()";
/// Answers below these paths carry samples or accounts: nothing keeps them, unless a handler says otherwise.
const NOT_KEPT: [&str; 2] = ["/api/", "/metrics"];

/// The values, made once.
#[derive(Debug)]
pub struct Headers {
    all: Vec<(HeaderName, HeaderValue)>,
    transport_security: HeaderValue,
    is_encrypted: bool,
}

impl Headers {
    /// As configured, for a server with TLS or without.
    pub fn new(config: &HttpConfig, is_encrypted: bool) -> Self {
        let fixed = |name: HeaderName, value| (name, HeaderValue::from_static(value));
        let mut all = vec![
            fixed(header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            fixed(header::REFERRER_POLICY, "no-referrer"),
            fixed(HeaderName::from_static("permissions-policy"), FEATURES),
            fixed(HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            fixed(HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ];
        // An origin has only letters that a header may have.
        if let Ok(policy) = HeaderValue::try_from(policy(config)) {
            all.push((header::CONTENT_SECURITY_POLICY, policy));
        }
        // This header cannot name origins: a browser that knows `frame-ancestors` ignores it, others would refuse what is
        // allowed.
        if config.embed_origins.is_empty() {
            all.push(fixed(header::X_FRAME_OPTIONS, "DENY"));
        }
        let age = HeaderValue::try_from(format!("max-age={}", config.hsts_seconds));
        Self { all, transport_security: age.unwrap_or(HeaderValue::from_static("max-age=0")), is_encrypted }
    }

    /// Adds them to the answer to a request for this path. A handler may have set a policy of its own.
    pub fn add(&self, path: &str, proxied: Option<Proxied>, headers: &mut HeaderMap) {
        for (name, value) in &self.all {
            if name != header::CONTENT_SECURITY_POLICY || !headers.contains_key(name) {
                headers.insert(name, value.clone());
            }
        }
        // RFC 6797 7.2: not over HTTP.
        if self.is_encrypted || proxied.is_some_and(|proxied| proxied.is_encrypted) {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, self.transport_security.clone());
        }
        if NOT_KEPT.iter().any(|begin| path.starts_with(begin)) {
            headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        }
    }
}

/// The policy, with the origins that are configured.
fn policy(config: &HttpConfig) -> String {
    let named = |origins: &[Origin]| origins.iter().map(Origin::as_str).collect::<Vec<_>>().join(" ");
    let pictures = format!("img-src 'self' data: {}", named(&config.tile_origins));
    let ancestors = match config.embed_origins.is_empty() {
        true => "'none'".to_owned(),
        false => named(&config.embed_origins),
    };
    format!("{POLICY}; {}; frame-ancestors {ancestors}", pictures.trim_end())
}

/// An origin that the policy names: `https://wiki.example.org`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Origin(String);

impl Origin {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> serde::Deserialize<'de> for Origin {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or_default();
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]*".contains(&byte);
        if !host.is_empty() && host.bytes().all(is_letter) {
            return Ok(Self(text));
        }
        let shown: String = text.chars().take(60).collect();
        Err(serde::de::Error::custom(format!(
            "{shown:?} is not an origin: write https://HOST or https://HOST:PORT, without a path"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(json: &str) -> Result<HttpConfig, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    fn added(config: &HttpConfig, is_encrypted: bool, proxied: Option<Proxied>, path: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        Headers::new(config, is_encrypted).add(path, proxied, &mut headers);
        headers
    }

    #[test]
    fn nobody_may_embed_the_page_until_an_origin_is_allowed() {
        let headers = added(&HttpConfig::default(), false, None, "/");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.ends_with("; frame-ancestors 'none'"), "{policy}");
        assert_eq!(headers["x-frame-options"], "DENY");
        let allowed =
            config(r#"{"embed_origins": ["https://wiki.example.org", "http://10.1.2.3:8080"]}"#).unwrap();
        let headers = added(&allowed, false, None, "/");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.ends_with("; frame-ancestors https://wiki.example.org http://10.1.2.3:8080"),
            "{policy}"
        );
        assert!(!headers.contains_key("x-frame-options"));
    }

    #[test]
    fn only_pictures_may_come_from_other_servers_that_are_allowed() {
        let of = |config: &HttpConfig| {
            let headers = added(config, false, None, "/");
            headers["content-security-policy"].to_str().unwrap().to_owned()
        };
        let usual = of(&HttpConfig::default());
        assert!(usual.contains("; img-src 'self' data:;"), "{usual}");
        let allowed = config(r#"{"tile_origins": ["https://tile.example.org", "http://[::1]:8080"]}"#);
        let tiles = of(&allowed.unwrap());
        let named = " https://tile.example.org http://[::1]:8080";
        assert!(tiles.contains(&format!("; img-src 'self' data:{named};")), "{tiles}");
        assert_eq!(tiles.replace(named, ""), usual);
    }

    #[test]
    fn a_policy_of_a_handler_stays() {
        let mut headers = HeaderMap::new();
        headers.insert("content-security-policy", HeaderValue::from_static("default-src 'none'"));
        headers.insert("x-frame-options", HeaderValue::from_static("ALLOWALL"));
        Headers::new(&HttpConfig::default(), false).add("/", None, &mut headers);
        assert_eq!(headers["content-security-policy"], "default-src 'none'");
        assert_eq!(headers["x-frame-options"], "DENY");
    }

    #[test]
    fn an_origin_cannot_add_to_the_policy() {
        for bad in
            ["wiki.example.org", "https://", "https://a; script-src *", "https://a/b", "https://a b", "*"]
        {
            for setting in ["embed_origins", "tile_origins"] {
                let refused = config(&format!(r#"{{"{setting}": ["{bad}"]}}"#)).unwrap_err();
                assert!(refused.contains("write https://HOST"), "{refused}");
            }
        }
    }

    #[test]
    fn browsers_are_told_to_stay_with_tls_only_over_tls() {
        let usual = HttpConfig::default();
        assert!(!added(&usual, false, None, "/").contains_key("strict-transport-security"));
        assert_eq!(added(&usual, true, None, "/")["strict-transport-security"], "max-age=31536000");
        let encrypted = Some(Proxied { is_encrypted: true });
        assert!(added(&usual, false, encrypted, "/").contains_key("strict-transport-security"));
        let plain = Some(Proxied { is_encrypted: false });
        assert!(!added(&usual, false, plain, "/").contains_key("strict-transport-security"));
        // 0 makes browsers forget it (RFC 6797 6.1.1).
        let off = HttpConfig { hsts_seconds: 0, ..usual };
        assert_eq!(added(&off, true, None, "/")["strict-transport-security"], "max-age=0");
    }

    #[test]
    fn samples_and_accounts_are_not_kept_by_browsers_unless_a_handler_says_so() {
        let usual = HttpConfig::default();
        for path in ["/api/v1/nodes", "/metrics"] {
            assert_eq!(added(&usual, false, None, path)["cache-control"], "no-store", "{path}");
        }
        assert!(!added(&usual, false, None, "/assets/index.js").contains_key("cache-control"));
        let mut headers = HeaderMap::new();
        headers.insert("cache-control", HeaderValue::from_static("private, immutable"));
        Headers::new(&usual, false).add("/api/v1/schemas/0", None, &mut headers);
        assert_eq!(headers["cache-control"], "private, immutable");
    }
}
