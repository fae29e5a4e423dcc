//! Refusals of the HTTP library as problems: a method that a path does not have, and a body that is too large.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_http::Problem;

/// Returns the answer, with a problem in place of a text or nothing.
pub async fn explained(answer: Response) -> Response {
    let media = answer.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if media.is_some_and(|media| !media.starts_with(b"text/plain")) {
        return answer;
    }
    let (code, detail) = match answer.status() {
        StatusCode::METHOD_NOT_ALLOWED => (
            "method_not_allowed",
            "this path does not take this method: the header `allow` lists those that it takes",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => {
            ("too_large", "the body is too large: docs/reference/http-api.md has the bound of each request")
        }
        _ => return answer,
    };
    let mut problem = Problem::new(answer.status(), code, detail).into_response();
    for (name, value) in answer.headers() {
        if *name != header::CONTENT_TYPE && *name != header::CONTENT_LENGTH {
            problem.headers_mut().append(name, value.clone());
        }
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn said(answer: impl IntoResponse) -> (StatusCode, String, String) {
        let answer = explained(answer.into_response()).await;
        let media = answer.headers().get(header::CONTENT_TYPE);
        let media = media.map(|media| media.to_str().unwrap().to_owned()).unwrap_or_default();
        let status = answer.status();
        let body = axum::body::to_bytes(answer.into_body(), 10_000).await.unwrap();
        (status, media, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_method_that_is_not_allowed_and_a_large_body_are_problems() {
        let (status, media, body) =
            said((StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET,HEAD")])).await;
        assert_eq!((status.as_u16(), &*media), (405, "application/problem+json"));
        assert!(body.contains("/problems/method_not_allowed") && body.contains("`allow`"), "{body}");
        let (status, media, body) = said((StatusCode::PAYLOAD_TOO_LARGE, "length limit exceeded")).await;
        assert_eq!((status.as_u16(), &*media), (413, "application/problem+json"));
        assert!(body.contains("/problems/too_large"), "{body}");
    }

    #[tokio::test]
    async fn other_answers_stay_as_they_are() {
        assert_eq!(said((StatusCode::OK, "fine")).await.2, "fine");
        let own = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "layout_too_large", "it is");
        assert!(said(own).await.2.contains("layout_too_large"));
    }
}
