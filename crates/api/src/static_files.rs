//! Files from the binary: those of the page, and the OpenAPI document. They are compressed when the program is built, and go as they are
//! to all who read gzip.

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use flate2::read::GzDecoder;
use oasis_doors::Coding;
use oasis_http::Problem;
use std::io::{self, Read};

struct StaticFile {
    path: &'static str,
    media: &'static str,
    /// RFC 1952.
    compressed: &'static [u8],
}

/// In order of their paths.
const FILES: &[StaticFile] = include!(concat!(env!("OUT_DIR"), "/static_files.rs"));

/// A file by its path, for a client that sent these headers.
pub fn answer(path: &str, headers: &HeaderMap) -> Response {
    let Some(file) = find(path) else { return nothing_at(path) };
    // Names under assets/ carry a hash of their content; everything else may change with the next version.
    let caching =
        if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let said = [
        (header::CONTENT_TYPE, file.media),
        (header::CACHE_CONTROL, caching),
        (header::VARY, "accept-encoding"),
    ];
    if Coding::Gzip.is_accepted(headers) {
        return (said, [(header::CONTENT_ENCODING, "gzip")], file.compressed).into_response();
    }
    match plain(file.compressed) {
        Ok(plain) => (said, plain).into_response(),
        Err(error) => damaged(path, &error),
    }
}

/// The contents of a file.
///
/// # Errors
/// The answer, if there is no such file.
#[allow(clippy::result_large_err, reason = "the error is what the client gets")]
pub fn contents(path: &str) -> Result<Vec<u8>, Response> {
    let file = find(path).ok_or_else(|| nothing_at(path))?;
    plain(file.compressed).map_err(|error| damaged(path, &error))
}

fn find(path: &str) -> Option<&'static StaticFile> {
    let at = FILES.binary_search_by_key(&path, |file| file.path).ok()?;
    FILES.get(at)
}

fn plain(compressed: &[u8]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut plain)?;
    Ok(plain)
}

fn nothing_at(path: &str) -> Response {
    let detail = format!("there is nothing at /{path}; the page is at /, the API at /openapi.json");
    Problem::new(StatusCode::NOT_FOUND, "not_found", detail).into_response()
}

fn damaged(path: &str, error: &io::Error) -> Response {
    let detail = format!("/{path} is damaged in this program: {error}; install it again");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "file_damaged", detail).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{body::to_bytes, http::HeaderValue};

    async fn answered(path: &str, accepted: Option<&'static str>) -> (Option<HeaderValue>, Vec<u8>) {
        let headers = accepted.map(|accepted| (header::ACCEPT_ENCODING, HeaderValue::from_static(accepted)));
        let answer = answer(path, &HeaderMap::from_iter(headers));
        let coding = answer.headers().get(header::CONTENT_ENCODING).cloned();
        (coding, to_bytes(answer.into_body(), usize::MAX).await.unwrap().to_vec())
    }

    #[tokio::test]
    async fn every_file_is_the_one_that_was_built_compressed_or_not() {
        for StaticFile { path, .. } in FILES {
            let folder = if *path == "openapi.json" { "../../docs/reference" } else { "../../web/dist" };
            let built = std::fs::read(format!("{folder}/{path}")).unwrap();
            let (coding, compressed) = answered(path, Some("gzip, br")).await;
            assert_eq!(coding.unwrap(), "gzip");
            assert_eq!(plain(&compressed).unwrap(), built, "{path}");
            for accepted in [None, Some("gzip;q=0, br")] {
                assert_eq!(answered(path, accepted).await, (None, built.clone()), "{path}");
            }
        }
    }
}
