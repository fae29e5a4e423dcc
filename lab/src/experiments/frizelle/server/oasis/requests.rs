//! The request manager: a pool of requests that wait for events.

use super::{
    super::{
        answer::{Content, Received},
        calls::{EventRequest, log},
    },
    emitter::Events,
    mailbox::{Letter, Mailbox},
};
use axum::body::{Body, Bytes};
use hyper::body::Frame;
use std::{
    convert::Infallible,
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};
use tokio::time::timeout;

/// Counts the requests that wait.
#[derive(Debug, Default)]
pub struct Pool {
    waiting: AtomicUsize,
}

/// A request that waits; leaves the pool when it is dropped, for whatever reason.
struct Waiting {
    pool: Arc<Pool>,
    mailbox: Arc<Mailbox>,
    received: Received,
}

impl Pool {
    /// The answer to a request: a body without an end, or the first event, or a timeout.
    pub async fn answer(self: &Arc<Self>, events: &Events, wish: &EventRequest) -> Body {
        log(|| format!("request {wish:?}"));
        let start = self.waiting.fetch_add(1, Ordering::Relaxed) + 1;
        let mailbox = Arc::<Mailbox>::default();
        let waiting =
            Waiting { pool: self.clone(), mailbox: mailbox.clone(), received: Received::new(wish, start) };
        events.register(&wish.events, &mailbox, wish.is_comet);
        if wish.is_comet {
            return Body::new(waiting);
        }
        let letter = timeout(wish.duration, poll_fn(|task| mailbox.poll(task))).await;
        Body::from(waiting.line(letter.ok().flatten()))
    }
}

impl Waiting {
    fn line(&self, letter: Option<Letter>) -> Vec<u8> {
        let finish = self.pool.waiting.load(Ordering::Relaxed);
        match letter {
            Some((emit, place)) => self.received.answer(Content::Event(&emit, place), finish),
            None => self.received.answer(Content::Timeout, finish),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.mailbox.close();
        self.pool.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of a comet request: each event when it comes. hyper asks for it just before it writes.
impl hyper::body::Body for Waiting {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let letter = ready!(self.mailbox.poll(task));
        Poll::Ready(letter.map(|letter| Ok(Frame::data(self.line(Some(letter)).into()))))
    }
}
