//! Emits on their way from an emitter to the task of a request.

use super::super::answer::Emit;
use futures_util::task::AtomicWaker;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

/// Unsent emits of a request, at most: a client that reads so little is closed.
const MAX_UNSENT: usize = 64;

/// An emit, and the place of a request in its queue.
pub type Letter = (Arc<Emit>, usize);

/// Filled by the emitter, emptied by the request's task.
#[derive(Debug, Default)]
pub struct Mailbox {
    content: Mutex<Content>,
    waker: AtomicWaker,
}

#[derive(Debug, Default)]
struct Content {
    letters: VecDeque<Letter>,
    is_closed: bool,
}

impl Mailbox {
    /// Puts an emit in; returns whether the request still waits.
    pub fn put(&self, letter: Letter) -> bool {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        if content.letters.len() >= MAX_UNSENT {
            content.is_closed = true;
        }
        let is_open = !content.is_closed;
        if is_open {
            content.letters.push_back(letter);
        }
        drop(content);
        self.waker.wake();
        is_open
    }

    /// The request has ended: later emits are refused.
    pub fn close(&self) {
        self.content.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
    }

    /// The next emit; none once the mailbox is closed.
    pub fn poll(&self, task: &Context<'_>) -> Poll<Option<Letter>> {
        // Registered before the check: an emit that comes after it wakes the task again.
        self.waker.register(task.waker());
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        match content.letters.pop_front() {
            Some(letter) => Poll::Ready(Some(letter)),
            None if content.is_closed => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}
