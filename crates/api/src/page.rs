//! The page, from the binary. Its files are compressed when the program is built, and go as they are to all who read gzip.

use axum::{
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use flate2::read::GzDecoder;
use oasis_doors::{Coding, Problem};
use std::io::{self, Read};

/// A file of the page.
struct PageFile {
    path: &'static str,
    media: &'static str,
    /// RFC 1952.
    compressed: &'static [u8],
}

/// In order of their paths.
const FILES: &[PageFile] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

const INDEX: &str = "index.html";

/// The page itself.
pub fn index(headers: &HeaderMap) -> Response {
    file(INDEX, headers)
}

/// The page at `/d/NAME`, a level below its files. Which dashboard it opens, the page reads from its address.
pub async fn dashboard() -> Response {
    let text = find(INDEX).ok_or(io::ErrorKind::NotFound.into()).and_then(|file| plain(file.compressed));
    match text {
        // Relative, because a proxy may serve all of it below a path of its own; a `<base>` is against the policy.
        Ok(text) => {
            let html = String::from_utf8_lossy(&text).replace("\"./", "\"../");
            ([(header::CONTENT_TYPE, "text/html"), (header::CACHE_CONTROL, "no-cache")], html).into_response()
        }
        Err(error) => damaged(INDEX, &error),
    }
}

/// Any other file of the page.
pub async fn asset(uri: Uri, headers: HeaderMap) -> Response {
    file(uri.path().trim_start_matches('/'), &headers)
}

/// A file of the page by its name, for a client that sent these headers.
pub fn file(path: &str, headers: &HeaderMap) -> Response {
    let Some(file) = find(path) else {
        let detail = format!("there is nothing at /{path}; the page is at /, the API at /openapi.json");
        return Problem::new(StatusCode::NOT_FOUND, "not_found", detail).into_response();
    };
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

fn find(path: &str) -> Option<&'static PageFile> {
    let at = FILES.binary_search_by_key(&path, |file| file.path).ok()?;
    FILES.get(at)
}

fn plain(compressed: &[u8]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut plain)?;
    Ok(plain)
}

fn damaged(path: &str, error: &io::Error) -> Response {
    let detail = format!("/{path} is damaged in this program: {error}; install it again");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "page_damaged", detail).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{body::to_bytes, http::HeaderValue};

    async fn answer(path: &str, accepted: Option<&'static str>) -> (Option<HeaderValue>, Vec<u8>) {
        let headers = accepted.map(|accepted| (header::ACCEPT_ENCODING, HeaderValue::from_static(accepted)));
        let answer = file(path, &HeaderMap::from_iter(headers));
        let coding = answer.headers().get(header::CONTENT_ENCODING).cloned();
        (coding, to_bytes(answer.into_body(), usize::MAX).await.unwrap().to_vec())
    }

    #[tokio::test]
    async fn every_file_is_the_one_that_was_built_compressed_or_not() {
        for PageFile { path, .. } in FILES {
            let built = std::fs::read(format!("../../web/dist/{path}")).unwrap();
            let (coding, compressed) = answer(path, Some("gzip, br")).await;
            assert_eq!(coding.unwrap(), "gzip");
            assert_eq!(plain(&compressed).unwrap(), built, "{path}");
            for accepted in [None, Some("gzip;q=0, br")] {
                assert_eq!(answer(path, accepted).await, (None, built.clone()), "{path}");
            }
        }
    }

    #[tokio::test]
    async fn a_dashboard_finds_its_files_a_level_above() {
        let html = to_bytes(dashboard().await.into_body(), usize::MAX).await.unwrap();
        let html = String::from_utf8(html.to_vec()).unwrap();
        assert!(html.contains("\"../assets/") && !html.contains("\"./"));
    }
}
