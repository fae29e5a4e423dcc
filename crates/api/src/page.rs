//! The page, from the binary.

use axum::{
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use oasis_doors::Problem;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Page;

const INDEX: &str = "index.html";

/// The page itself.
pub fn index() -> Response {
    file(INDEX)
}

/// The page at `/d/NAME`, a level below its files. Which dashboard it opens, the page reads from its address.
pub async fn dashboard() -> Response {
    let Some(file) = Page::get(INDEX) else { return index() };
    // Relative, because a proxy may serve all of it below a path of its own; a `<base>` is against the policy.
    let html = String::from_utf8_lossy(&file.data).replace("\"./", "\"../");
    let headers = [(header::CONTENT_TYPE, "text/html"), (header::CACHE_CONTROL, "no-cache")];
    (headers, html).into_response()
}

/// Any other file of the page.
pub async fn asset(uri: Uri) -> Response {
    file(uri.path().trim_start_matches('/'))
}

/// A file of the page by its name.
pub fn file(path: &str) -> Response {
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
