//! The message of a unary call: a prefix of five bytes, and the content.

use super::error::CallError;
use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame};
use std::{
    future::poll_fn,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
};

/// Bytes before a message: whether it is compressed, and its length.
pub const PREFIX_BYTES: usize = 5;

/// The beginning of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessagePrefix {
    pub is_compressed: bool,
    /// Bytes of the content.
    pub length: u32,
}

impl MessagePrefix {
    /// Reads a prefix.
    ///
    /// # Errors
    /// If its flag is unknown.
    pub fn parse([flag, length @ ..]: [u8; PREFIX_BYTES]) -> Result<Self, CallError> {
        let is_compressed = match flag {
            0 => false,
            1 => true,
            other => return Err(CallError::Flag(other)),
        };
        Ok(Self { is_compressed, length: u32::from_be_bytes(length) })
    }
}

/// Returns a message that is not compressed.
pub fn encode(content: &[u8]) -> Bytes {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    [&[0], &length.to_be_bytes()[..], content].concat().into()
}

/// The first error of a body, for the one who answers: routes know only that they could not read it.
#[derive(Debug, Clone, Default)]
pub struct BodyFault(Arc<OnceLock<CallError>>);

impl BodyFault {
    /// Returns the error, if there was one.
    pub fn get(&self) -> Option<CallError> {
        self.0.get().cloned()
    }
}

/// Reads the prefix of the only message of a body. Returns it with the content, which ends with an error unless it has the length of the prefix
/// and the body ends with it.
///
/// # Errors
/// If there is no prefix.
pub async fn read_message<B>(mut body: B) -> Result<(MessagePrefix, Body, BodyFault), CallError>
where
    B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin + 'static,
{
    let (mut prefix, mut filled) = ([0; PREFIX_BYTES], 0);
    let unread = loop {
        let mut data = next_data(&mut body).await?.ok_or(CallError::NoMessage)?;
        let count = data.len().min(PREFIX_BYTES - filled);
        let (part, end) = (data.split_to(count), filled + count);
        if let Some(to) = prefix.get_mut(filled..end) {
            to.copy_from_slice(&part);
        }
        filled = end;
        if filled == PREFIX_BYTES {
            break data;
        }
    };
    let prefix = MessagePrefix::parse(prefix)?;
    let fault = BodyFault::default();
    let content = MessageContent { body, unread, left: prefix.length as usize, fault: fault.clone() };
    Ok((prefix, Body::new(content), fault))
}

async fn next_data<B>(body: &mut B) -> Result<Option<Bytes>, CallError>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    poll_fn(|context| poll_data(Pin::new(&mut *body), context)).await.transpose()
}

/// Polls the next bytes of a body; its trailers, of which unary calls have none, are skipped.
fn poll_data<B>(mut body: Pin<&mut B>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, CallError>>>
where
    B: HttpBody<Data = Bytes>,
{
    loop {
        match ready!(body.as_mut().poll_frame(context)) {
            None => return Poll::Ready(None),
            Some(Err(_)) => return Poll::Ready(Some(Err(CallError::Interrupted))),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Poll::Ready(Some(Ok(data)));
                }
            }
        }
    }
}

/// The content of a message whose prefix has been read.
struct MessageContent<B> {
    body: B,
    /// Bytes that came with the prefix.
    unread: Bytes,
    /// Bytes that the content still lacks.
    left: usize,
    fault: BodyFault,
}

impl<B: HttpBody<Data = Bytes> + Unpin> MessageContent<B> {
    fn poll_content(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, CallError>>> {
        let data = match std::mem::take(&mut self.unread) {
            unread if unread.is_empty() => ready!(poll_data(Pin::new(&mut self.body), context)?),
            unread => Some(unread),
        };
        let next = match data {
            None if self.left > 0 => Err(CallError::Truncated(self.left)),
            None => return Poll::Ready(None),
            Some(data) if data.len() > self.left => Err(CallError::SeveralMessages),
            Some(data) => {
                self.left -= data.len();
                Ok(data)
            }
        };
        Poll::Ready(Some(next))
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for MessageContent<B> {
    type Data = Bytes;
    type Error = CallError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        let next = ready!(self.poll_content(context));
        Poll::Ready(next.map(|next| match next {
            Ok(data) => Ok(Frame::data(data)),
            Err(error) => {
                let _ = self.fault.0.set(error.clone());
                Err(error)
            }
        }))
    }
}

#[cfg(test)]
mod tests;
