//! A server between two streams.

use crate::{
    frame::{self, Frame},
    language::Language,
    server::{Server, Step},
};
use lsp_server::{ErrorCode, Message};
use serde_json::json;
use std::{
    io::{self, BufReader, Read, Write},
    sync::mpsc::{Receiver, TryRecvError, sync_channel},
    thread,
};

/// Messages that wait while one is answered.
const MESSAGE_CAPACITY: usize = 64;

/// Serves one editor until it sends `exit` or closes the stream. Returns whether it sent `shutdown` first.
///
/// # Errors
/// The errors of the streams.
pub fn serve(
    language: impl Language,
    input: impl Read + Send + 'static,
    mut output: impl Write,
) -> io::Result<bool> {
    let (sender, receiver) = sync_channel(MESSAGE_CAPACITY);
    // The thread ends with the process: a blocked read cannot be canceled.
    thread::Builder::new().name("editor".into()).spawn(move || {
        let mut input = BufReader::new(input);
        while let Some(frame) = frame::read(&mut input).transpose() {
            let is_last = frame.is_err();
            if sender.send(frame).is_err() || is_last {
                return;
            }
        }
    })?;
    let mut server = Server::new(language);
    while let Some(frame) = next(&mut server, &receiver, &mut output)? {
        match frame? {
            Frame::Message(message) => match server.handle(*message) {
                Step::Send(messages) => send(&messages, &mut output)?,
                Step::End { is_agreed } => return Ok(is_agreed),
            },
            // The protocol requires the id `null` for an unreadable message, which the message types cannot express.
            Frame::Nonsense(error) => {
                let error = json!({ "code": ErrorCode::ParseError as i32, "message": error });
                let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
                write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
                output.flush()?;
            }
        }
    }
    Ok(false)
}

/// Returns the next frame. Publishes diagnostics only when no message waits, so that fast typing compiles once.
fn next(
    server: &mut Server<impl Language>,
    receiver: &Receiver<io::Result<Frame>>,
    output: &mut impl Write,
) -> io::Result<Option<io::Result<Frame>>> {
    match receiver.try_recv() {
        Ok(frame) => Ok(Some(frame)),
        Err(TryRecvError::Disconnected) => Ok(None),
        Err(TryRecvError::Empty) => {
            send(&server.settle(), output)?;
            Ok(receiver.recv().ok())
        }
    }
}

fn send(messages: &[Message], output: &mut impl Write) -> io::Result<()> {
    messages.iter().try_for_each(|message| message.write(output))
}
