//! The page: its files, and addresses at which it opens a dashboard.

use crate::static_files;
use axum::{
    http::{HeaderMap, Uri, header},
    response::{IntoResponse, Response},
};

const INDEX: &str = "index.html";

/// The page itself.
pub fn index(headers: &HeaderMap) -> Response {
    static_files::answer(INDEX, headers)
}

/// The page at `/d/NAME`, a level below its files. Which dashboard it opens, the page reads from its address.
pub async fn dashboard() -> Response {
    match static_files::contents(INDEX) {
        // Relative, because a proxy may serve all of it below a path of its own; a `<base>` is against the policy.
        Ok(text) => {
            let html = String::from_utf8_lossy(&text).replace("\"./", "\"../");
            ([(header::CONTENT_TYPE, "text/html"), (header::CACHE_CONTROL, "no-cache")], html).into_response()
        }
        Err(answer) => answer,
    }
}

/// Any other file of the page.
pub async fn asset(uri: Uri, headers: HeaderMap) -> Response {
    static_files::answer(uri.path().trim_start_matches('/'), &headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    #[tokio::test]
    async fn a_dashboard_finds_its_files_a_level_above() {
        let html = to_bytes(dashboard().await.into_body(), usize::MAX).await.unwrap();
        let html = String::from_utf8(html.to_vec()).unwrap();
        assert!(html.contains("\"../assets/") && !html.contains("\"./"));
    }
}
