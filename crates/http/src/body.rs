//! A deadline for the body of a request.

use axum::{
    body::{Body, Bytes},
    http::Request,
};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};

/// Time that a body has besides the time for its bytes: a lost packet may take some of it.
const GRACE_TIME: Duration = Duration::from_secs(3);
/// Slowest rate of a body, in bytes per second.
const MIN_BYTES_PER_SECOND: f64 = 1024.0;

/// Whether the body of a request was too late.
#[derive(Debug, Clone, Default)]
pub struct Lateness(Arc<AtomicBool>);

impl Lateness {
    /// Returns whether the deadline has ended the body.
    pub fn is_late(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Ends the body of a request with an error unless it arrives within `longest`, and at [`MIN_BYTES_PER_SECOND`] or faster after a [`GRACE_TIME`].
pub fn bounded(request: Request<Incoming>, longest: Duration) -> (Request<Body>, Lateness) {
    let lateness = Lateness::default();
    let now = Instant::now();
    let request = request.map(|body| {
        Body::new(BoundedBody {
            body,
            began: now,
            longest,
            received: 0,
            deadline: Box::pin(sleep_until(now + GRACE_TIME.min(longest))),
            lateness: lateness.clone(),
        })
    });
    (request, lateness)
}

struct BoundedBody<B> {
    body: B,
    began: Instant,
    longest: Duration,
    received: usize,
    deadline: Pin<Box<Sleep>>,
    lateness: Lateness,
}

impl<B> BoundedBody<B> {
    /// Counts bytes, which allow for more time.
    fn received(&mut self, bytes: usize) {
        self.received += bytes;
        let earned = GRACE_TIME + Duration::from_secs_f64(self.received as f64 / MIN_BYTES_PER_SECOND);
        self.deadline.as_mut().reset(self.began + earned.min(self.longest));
    }
}

impl<B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Unpin> HttpBody for BoundedBody<B> {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => {
                if let Some(Ok(frame)) = &frame {
                    let bytes = frame.data_ref().map_or(0, Bytes::len);
                    self.received(bytes);
                }
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
            Poll::Pending if self.deadline.as_mut().poll(context).is_ready() => {
                self.lateness.0.store(true, Ordering::Relaxed);
                Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A body whose pieces arrive in these intervals, and whose end never does.
    struct Slow(VecDeque<Bytes>, Pin<Box<Sleep>>, Duration);

    impl HttpBody for Slow {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            if self.1.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let Some(piece) = self.0.pop_front() else { return Poll::Pending };
            let next = Instant::now() + self.2;
            self.1.as_mut().reset(next);
            Poll::Ready(Some(Ok(Frame::data(piece))))
        }
    }

    /// Seconds until the deadline, for pieces of `piece` bytes in these intervals.
    async fn seconds(piece: usize, interval: Duration) -> u64 {
        let pieces = std::iter::repeat_n(Bytes::from(vec![0; piece]), 1_000).collect();
        let began = Instant::now();
        let lateness = Lateness::default();
        let mut body = BoundedBody {
            body: Slow(pieces, Box::pin(sleep_until(began)), interval),
            began,
            longest: Duration::from_secs(10),
            received: 0,
            deadline: Box::pin(sleep_until(began + GRACE_TIME)),
            lateness: lateness.clone(),
        };
        while std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await.unwrap().is_ok() {
            assert!(!lateness.is_late());
        }
        assert!(lateness.is_late());
        began.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_a_deadline_and_a_slowest_rate() {
        assert_eq!(seconds(1, Duration::from_secs(1)).await, 3, "far too slow");
        assert_eq!(seconds(512, Duration::from_secs(1)).await, 6, "half as fast as it must be");
        assert_eq!(seconds(4_096, Duration::from_secs(1)).await, 10, "fast enough, but too long");
    }
}
