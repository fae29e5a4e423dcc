//! Refusals at the paths of InfluxDB in the words that its clients print.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};
use oasis_http::Unrecorded;
use serde_json::json;

/// The header that Telegraf reads for version 1.
const ERROR_HEADER: HeaderName = HeaderName::from_static("x-influxdb-error");

/// Answers a request; a refusal for want of a permission at a path of InfluxDB has the members of its version too.
pub async fn reworded(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_of_version_2 = path == "/api/v2/write";
    if !is_of_version_2 && !["/write", "/query", "/api/v3/write_lp"].contains(&path) {
        return next.run(request).await;
    }
    let answer = next.run(request).await;
    let Some(Unrecorded(problem)) = answer.extensions().get() else { return answer };
    let message = problem.to_string();
    let code = if answer.status() == StatusCode::UNAUTHORIZED { "unauthorized" } else { "forbidden" };
    let mut body = json!(problem);
    match is_of_version_2 {
        true => (body["code"], body["message"]) = (json!(code), json!(message)),
        false => body["error"] = json!(message),
    }
    let (mut parts, _) = answer.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(line) = HeaderValue::from_str(&message) {
        parts.headers.insert(ERROR_HEADER, line);
    }
    Response::from_parts(parts, Body::from(body.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{Router, middleware::from_fn, response::IntoResponse, routing::post};
    use oasis_http::Problem;
    use serde_json::Value;
    use tower_service::Service;

    async fn refused(path: &str, status: StatusCode) -> (Response, String) {
        let refuse = move || async move { Problem::new(status, "sign_in", "send a token").into_response() };
        let mut routes = Router::new().route(path, post(refuse)).layer(from_fn(reworded));
        let request = Request::post(path).body(Body::empty()).unwrap();
        let (parts, body) = routes.call(request).await.unwrap().into_parts();
        let body = axum::body::to_bytes(body, 10_000).await.unwrap();
        (Response::from_parts(parts, Body::empty()), String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn clients_of_influxdb_can_print_a_refusal() {
        let (answer, body) = refused("/api/v2/write", StatusCode::UNAUTHORIZED).await;
        let members: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&members["code"], &members["message"]), (&json!("unauthorized"), &json!("send a token")));
        assert_eq!(members["type"], "/problems/sign_in", "it stays a problem");
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["content-type"]),
            (401, &HeaderValue::from_static("application/json"))
        );
        assert!(answer.headers().contains_key(header::WWW_AUTHENTICATE));
        assert!(answer.extensions().get::<Unrecorded>().is_some(), "the audit log still gets it");
        assert!(refused("/api/v2/write", StatusCode::FORBIDDEN).await.1.contains("\"forbidden\""));
        let (answer, body) = refused("/write", StatusCode::FORBIDDEN).await;
        assert_eq!(
            (body.contains(r#""error":"send a token""#), &answer.headers()[ERROR_HEADER]),
            (true, &HeaderValue::from_static("send a token"))
        );
    }

    #[tokio::test]
    async fn other_refusals_are_problems_alone() {
        let is_alone = |body: &str| !body.contains("\"error\"") && !body.contains("\"message\"");
        assert!(is_alone(&refused("/api/v1/write", StatusCode::UNAUTHORIZED).await.1));
        assert!(is_alone(&refused("/write", StatusCode::SERVICE_UNAVAILABLE).await.1));
    }
}
