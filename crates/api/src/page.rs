//! The page, from the binary.

use axum::{
    http::{HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use oasis_doors::Problem;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Page;

/// Scripts, styles, workers and sockets from this server alone; nothing inline.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page itself.
pub fn index() -> Response {
    file("index.html")
}

/// Any other file of the page.
pub async fn asset(uri: Uri) -> Response {
    file(uri.path().trim_start_matches('/'))
}

/// Headers that every answer carries.
pub async fn harden(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn file(path: &str) -> Response {
    let Some(file) = Page::get(path) else {
        let detail = format!("there is nothing at /{path}; the page is at /, the API at /openapi.json");
        return Problem::new(StatusCode::NOT_FOUND, "not_found", detail).into_response();
    };
    // Names under assets/ carry a hash of their content; everything else may change with the next version.
    let caching =
        if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, file.metadata.mimetype().to_owned()),
        (header::CACHE_CONTROL, caching.to_owned()),
    ];
    (headers, file.data).into_response()
}
