//! A connection of HTTP/1.1.

use super::{FIRST_BYTES_TIMEOUT, Server, TIMEOUT_CODE, is_health, late, problem};
use axum::{
    http::{HeaderValue, Request, header},
    response::{IntoResponse, Response},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use oasis_dac::listener::{Connection, Refusal, Stream};
use std::{convert::Infallible, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};
use tokio::sync::watch;
use tower_service::Service;

/// Upper bound of the bytes of the head of a request: a URL with a thousand instances fits.
const MAX_HEAD_BYTES: usize = 128 * 1024;

impl Server {
    /// Serves one connection until it ends; without a place only one request. An unfinished request is answered; an idle connection is closed without an answer.
    pub(super) async fn serve_http1(
        self: Arc<Self>,
        stream: Stream,
        peer: SocketAddr,
        place: Option<Arc<Connection>>,
        mut is_ending: watch::Receiver<bool>,
    ) {
        let is_regular = place.is_some();
        let server = self.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            let proxied = server.meet_client(peer, &mut request);
            let path = request.uri().path().to_owned();
            let server = server.clone();
            let is_refused = place.is_none() && !is_health(request.uri().path());
            if let Some(place) = &place {
                request.extensions_mut().insert(place.clone());
            }
            // RFC 9112 6.1: a proxy may have seen another end of this request, so nothing that follows it is read.
            let is_last = request.headers().contains_key(header::TRANSFER_ENCODING);
            async move {
                let mut answer = match is_refused {
                    true => problem(Refusal::OutOfDescriptors).into_response(),
                    false => server.answer_http1(request).await?,
                };
                server.headers.add(&path, proxied, answer.headers_mut());
                if is_last {
                    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(answer)
            }
        });
        let mut connection =
            self.http1(is_regular).serve_connection(TokioIo::new(stream), service).with_upgrades();
        let ended = tokio::select! {
            ended = &mut connection => Some(ended),
            _ = is_ending.changed() => None,
        };
        let ended = match ended {
            Some(ended) => ended,
            None => {
                Pin::new(&mut connection).graceful_shutdown();
                (&mut connection).await
            }
        };
        let Err(error) = ended else { return };
        tracing::debug!(%peer, %error, "connection ended");
        let parts = connection.into_parts().filter(|parts| error.is_timeout() && !parts.read_buf.is_empty());
        if let Some(parts) = parts {
            self.context.admission.count_refused(TIMEOUT_CODE);
            let late = late("head", "doors.head_timeout_ms");
            self.farewell.send_and_close(parts.io.into_inner(), late.to_http());
        }
    }

    fn http1(&self, has_more: bool) -> http1::Builder {
        let mut http = http1::Builder::new();
        let head = match has_more {
            true => Duration::from_millis(self.context.config.head_timeout_ms),
            false => FIRST_BYTES_TIMEOUT,
        };
        // From the start of the connection, and from the end of each answer.
        http.timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_buf_size(MAX_HEAD_BYTES)
            .keep_alive(has_more);
        http
    }

    /// Answers one request. One whose body is late gets 408.
    async fn answer_http1(&self, request: Request<Incoming>) -> Result<Response, Infallible> {
        let mut router = self.router.clone();
        let answered = self.answer_in_time(request, |request| router.call(request)).await;
        answered.unwrap_or_else(|late| {
            let mut answer = late.into_response();
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            Ok(answer)
        })
    }
}
