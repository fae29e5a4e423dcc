//! Compression of answers.

use axum::http::{HeaderMap, header};

/// Compression of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// No compression.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// The one that the client likes better (RFC 9110 12.5.3); zstd if it likes both alike.
    pub fn accepted(headers: &HeaderMap) -> Self {
        let (gzip, zstd) = (Self::Gzip.weight(headers), Self::Zstd.weight(headers));
        match (gzip, zstd) {
            (0.0, 0.0) => Self::Identity,
            _ if gzip > zstd => Self::Gzip,
            _ => Self::Zstd,
        }
    }

    /// Whether the client says that it reads this.
    pub fn is_accepted(self, headers: &HeaderMap) -> bool {
        self == Self::Identity || self.weight(headers) > 0.0
    }

    /// Returns the client's weight of this coding: 0 to 1, and 0 if it is not mentioned.
    fn weight(self, headers: &HeaderMap) -> f32 {
        let all = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let weights = all.flat_map(|value| value.split(',')).filter_map(|item| {
            let (name, weight) = item.split_once(';').unwrap_or((item, "q=1"));
            self.name().filter(|own| name.trim().eq_ignore_ascii_case(own))?;
            weight.trim().strip_prefix("q=")?.parse::<f32>().ok().filter(|weight| weight.is_finite())
        });
        weights.fold(0.0, f32::max)
    }

    /// Its name in `Content-Encoding`.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, value.parse().unwrap())])
    }

    #[test]
    fn compressed_as_the_client_likes_best() {
        let coding = |value: &str| Coding::accepted(&accepting(value));
        for gzip in ["gzip", "deflate, GZIP;q=0.5", "br, gzip", "zstd;q=0.5, gzip", "zstd;q=0, gzip"] {
            assert_eq!(coding(gzip), Coding::Gzip, "{gzip}");
        }
        for zstd in ["zstd", "gzip, deflate, br, zstd", "gzip;q=0.5, zstd;q=0.6", "zstd;q=0.5, gzip;q=0.5"] {
            assert_eq!(coding(zstd), Coding::Zstd, "{zstd}");
        }
        for no in ["identity", "gzip;q=0", "zstd;q=0", "zstd;q=x", "", "br"] {
            assert_eq!(coding(no), Coding::Identity, "{no}");
        }
        assert_eq!(Coding::accepted(&HeaderMap::new()), Coding::Identity);
        assert!(Coding::Gzip.is_accepted(&accepting("zstd, gzip;q=0.1")));
        assert!(!Coding::Gzip.is_accepted(&accepting("zstd, gzip;q=0")));
        assert!(!Coding::Gzip.is_accepted(&HeaderMap::new()));
    }
}
