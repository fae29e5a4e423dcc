//! HTTP at the edge of a DAC: connections with and without TLS, the checks that every request passes, and the form of errors.
//!
//! A request passes the guard of [host names](HttpConfig::allowed_hosts), the check of origins, the rate limits and the [requirement](permissions::Requirement)
//! of its route before a handler sees it. [`HttpContext`] is the state of these checks, [`permissions::Caller`] the principal of a request, and
//! [`Problem`] an answer that says why not.
//!
//! This crate knows no samples and no route.

#![cfg_attr(
    not(feature = "openapi"),
    allow(unused_imports, reason = "what only the OpenAPI document names; checked with the feature on")
)]

// Schemas describe themselves only for the test of the OpenAPI document.
#[cfg(not(feature = "openapi"))]
extern crate oasis_no_openapi as utoipa;

mod body;
mod config;
mod context;
#[cfg(feature = "grpc")]
mod grpc;
mod headers;
mod host;
mod named_host;
mod origin;
mod page_origin;
pub mod permissions;
mod problem;
mod proxies;
mod rate_limits;
mod serve;
mod streamed_list;

pub use config::HttpConfig;
pub use context::HttpContext;
#[cfg(feature = "grpc")]
pub use grpc::GrpcMethod;
pub use headers::Origin;
pub use page_origin::{MAX_ORIGINS, NoPageOrigin, PageOrigin, connecting_policy};
pub use problem::{Problem, Unrecorded};
pub use proxies::{ForwardedHeader, Network, NetworkError, Proxied};
pub use streamed_list::streamed_list;

use axum::{Router, middleware::from_fn_with_state};
use serve::Protocol;
use tokio::net::TcpListener;

/// Serves `router` until `ended` completes and every request has its answer.
pub async fn serve(
    context: &HttpContext,
    router: Router,
    listener: TcpListener,
    ended: impl Future<Output = ()>,
) {
    serve::serve(context, guarded(context, router), Protocol::Http1, listener, ended).await;
}

/// Serves calls of these methods by routes of `router`, with the checks and limits of [`serve`].
#[cfg(feature = "grpc")]
pub async fn serve_grpc(
    context: &HttpContext,
    router: Router,
    methods: &'static [GrpcMethod],
    listener: TcpListener,
    ended: impl Future<Output = ()>,
) {
    serve::serve(context, guarded(context, router), Protocol::Grpc(methods), listener, ended).await;
}

/// Adds the checks before all routes.
fn guarded(context: &HttpContext, router: Router) -> Router {
    // The guard comes first: what it refuses no layer below sees.
    let router = router.layer(origin::sharing(&context.config)).layer(origin::timing());
    router.layer(from_fn_with_state(context.clone(), host::guard))
}
