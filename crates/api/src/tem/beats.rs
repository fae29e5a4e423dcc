//! A stream of heartbeats: one connection of a DAC in place of two requests a second.

use super::{BeatAnswer, FOREIGN_ORIGIN_DETAIL, permitted, record};
use crate::Api;
use axum::{
    Extension,
    extract::{Path, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use oasis_dac::listener::Connection;
use oasis_http::{Problem, permissions::Caller};
use oasis_tem::{Accepted, Beaten, DacName, Line, MAX_HEARTBEAT_BYTES, Refusal};
use oasis_websocket::{CloseCode, Decoder, Limits, Message, Opcode, Role, close, frame, handshake};
use oasis_wire::quantity::Epoch;
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

/// Subprotocol of the stream.
const PROTOCOL: &str = "oasis.beats.v1";
/// A DAC that sends nothing for this time is gone.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of writing an answer.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// Upper bound of heartbeats without an answer.
const MAX_UNANSWERED: u32 = 4;
/// Most heartbeats in a second: a DAC sends two, and some more when it connects.
const MAX_HEARTBEATS_PER_SECOND: u32 = 20;
/// Upper bound of the bytes that are read at once.
const READ_CHUNK_BYTES: usize = 2_048;

/// A WebSocket on which a DAC repeats its heartbeat twice a second, after one with `PUT`.
#[utoipa::path(get, path = "/api/v1/tem/dacs/{name}/beats", params(("name" = String, Path)),
    responses((status = 101), (status = 400, body = Problem), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub async fn open(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    mut request: Request,
) -> Result<Response, Problem> {
    api.doors.admit(request.headers(), FOREIGN_ORIGIN_DETAIL)?;
    let name = permitted(&caller, &name)?;
    let pairs: Vec<_> =
        request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let opening = handshake::check(request.method().as_str(), pairs.into_iter())
        .map_err(|error| no_websocket(&error.to_string()))?;
    if !opening.protocols.iter().any(|offered| offered == PROTOCOL) {
        return Err(no_websocket(&format!("offer the subprotocol {PROTOCOL}")));
    }
    let accept = HeaderValue::try_from(opening.accept)
        .map_err(|_| no_websocket("Sec-WebSocket-Key cannot be answered"))?;
    let place = request.extensions_mut().remove::<Arc<Connection>>();
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let upgrade = upgrade.ok_or_else(|| no_websocket("this connection cannot be upgraded"))?;
    tokio::spawn(async move {
        // The place is taken as long as the stream lives.
        let _place = place;
        if let Ok(upgraded) = upgrade.await {
            Stream::new(api, caller, name).run(TokioIo::new(upgraded)).await;
        }
    });
    let mut response = StatusCode::SWITCHING_PROTOCOLS.into_response();
    let answers = response.headers_mut();
    answers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    answers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    answers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    answers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    Ok(response)
}

fn no_websocket(detail: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "websocket_handshake", detail)
}

/// The heartbeats of a DAC.
struct Stream {
    api: Api,
    caller: Caller,
    name: DacName,
    /// Epoch of the last whole heartbeat.
    epoch: Option<Epoch>,
    /// Heartbeats since the last answer.
    unanswered: u32,
    /// Heartbeats in the second that began then.
    second: (Instant, u32),
    /// Event for the audit log.
    came: Option<Beaten>,
    /// Revision of the list at which the DAC received the pages where its readers can continue.
    told: Option<u64>,
    out: Vec<u8>,
}

/// Why a stream ends.
#[derive(Debug)]
enum End {
    /// With a close frame.
    Closed(CloseCode, String),
    /// Without one.
    Gone,
}

impl From<oasis_websocket::Error> for End {
    fn from(error: oasis_websocket::Error) -> Self {
        Self::Closed(error.close_code(), error.to_string())
    }
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl Stream {
    fn new(api: Api, caller: Caller, name: DacName) -> Self {
        let second = (Instant::now(), 0);
        Self {
            api,
            caller,
            name,
            epoch: None,
            unanswered: 0,
            second,
            came: None,
            told: None,
            out: Vec::new(),
        }
    }

    async fn run(mut self, mut socket: TokioIo<Upgraded>) {
        let end = match self.follow(&mut socket).await {
            Ok(()) | Err(End::Gone) => return,
            Err(End::Closed(code, reason)) => (code, reason),
        };
        let mut out = Vec::new();
        close::write(end.0, &end.1, &mut out);
        let _ = timeout(WRITE_TIMEOUT, socket.write_all(&out)).await;
    }

    async fn follow(&mut self, socket: &mut TokioIo<Upgraded>) -> Result<(), End> {
        let mut decoder = Decoder::new(Role::Server, Limits::of_messages(MAX_HEARTBEAT_BYTES));
        let mut read = vec![0; READ_CHUNK_BYTES];
        loop {
            let Ok(count) = timeout(HEARTBEAT_TIMEOUT, socket.read(&mut read)).await else {
                return Err(End::Closed(
                    CloseCode::POLICY,
                    format!("no heartbeat for {} s", HEARTBEAT_TIMEOUT.as_secs()),
                ));
            };
            let bytes = read.get_mut(..count?).filter(|bytes| !bytes.is_empty()).ok_or(End::Gone)?;
            self.check_rights()?;
            decoder.decode(bytes, |message| self.take(&message))?;
            if let Some(came) = self.came.take() {
                let action = if came == Beaten::Joined { "tem:join" } else { "tem:take-over" };
                record(&self.api, &self.caller, action, &self.name).await;
            }
            if !self.out.is_empty() {
                timeout(WRITE_TIMEOUT, socket.write_all(&self.out)).await.map_err(|_| End::Gone)??;
                self.out.clear();
            }
        }
    }

    /// A token that was revoked or changed ends the stream.
    fn check_rights(&mut self) -> Result<(), End> {
        let changed = self.caller.refresh(&self.api.doors.permissions);
        let is_changed = changed.map_err(|_| refused("the token is not valid any more"))?;
        if is_changed {
            permitted(&self.caller, self.name.as_str()).map_err(|problem| refused(&problem.to_string()))?;
        }
        Ok(())
    }

    fn take(&mut self, message: &Message<'_>) -> Result<(), End> {
        match message {
            Message::Text(text) => self.take_line(text),
            Message::Binary(_) => Err(End::Closed(CloseCode::UNSUPPORTED, "heartbeats are text".into())),
            Message::Ping(payload) => {
                frame::write_message(Opcode::Pong, payload, &mut self.out);
                Ok(())
            }
            Message::Pong(_) => Ok(()),
            Message::Close(code, _) => Err(End::Closed(close::reply(*code), String::new())),
        }
    }

    fn take_line(&mut self, text: &str) -> Result<(), End> {
        self.count()?;
        let line: Line = serde_json::from_str(text).map_err(|error| refused(&error.to_string()))?;
        let accepted = match line {
            Line::Beat(beat) => {
                let epoch =
                    self.epoch.ok_or_else(|| refused("the first message must be a whole heartbeat"))?;
                self.api.tem.beat_again(&self.name, epoch, beat)
            }
            Line::Heartbeat(heartbeat) => {
                self.epoch = Some(heartbeat.epoch);
                self.api.tem.beat(&self.name, *heartbeat)
            }
        };
        match accepted {
            Ok(accepted) => self.answer(accepted),
            // The heartbeat was sent before another one, and changes nothing.
            Err(Refusal::Old { .. }) => {}
            Err(refusal) => return Err(refused(&refusal.to_string())),
        }
        Ok(())
    }

    fn answer(&mut self, accepted: Accepted) {
        let Accepted { beaten, wants_names, moved } = accepted;
        if beaten != Beaten::Heard {
            self.came = Some(beaten);
        }
        self.unanswered += 1;
        if !wants_names && moved.is_empty() && self.unanswered < MAX_UNANSWERED {
            return;
        }
        self.unanswered = 0;
        let other_pages = self.api.tem.other_pages_since(&self.name, self.told).map(|(revision, pages)| {
            self.told = Some(revision);
            pages
        });
        if let Ok(answer) = serde_json::to_vec(&BeatAnswer { wants_names, moved, other_pages }) {
            frame::write_message(Opcode::Text, &answer, &mut self.out);
        }
    }

    fn count(&mut self) -> Result<(), End> {
        if self.second.0.elapsed() >= Duration::from_secs(1) {
            self.second = (Instant::now(), 0);
        }
        self.second.1 += 1;
        match self.second.1 > MAX_HEARTBEATS_PER_SECOND {
            true => Err(refused("too many heartbeats: send two a second")),
            false => Ok(()),
        }
    }
}

fn refused(reason: &str) -> End {
    End::Closed(CloseCode::POLICY, reason.into())
}
