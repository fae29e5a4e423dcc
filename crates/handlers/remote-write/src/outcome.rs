//! Sends a request until the server has taken or refused it.

use crate::{
    RemoteWriteVersion,
    config::Receiver,
    encoding::{encode, points_of},
    part::{Part, halves, samples_of},
    state::{Condition, SharedState},
};
use oasis_handler::Stopping;
use oasis_http_client::Answer;
use std::time::Duration;

/// Pause before a request is sent again; each further one doubles it.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// Upper bound of the pause that the handler chooses.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);
/// Upper bound of the pause that a server asks for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);
/// Times that a refused request is divided: a server that refuses one sample may have refused all with it.
const MAX_DIVISIONS: u32 = 32;
/// Longest reason of a server that is kept, in characters.
const MAX_REASON_CHARACTERS: usize = 512;

/// Sends requests.
pub struct Sending<'a> {
    pub receiver: &'a Receiver,
    pub version: RemoteWriteVersion,
    pub has_sequence: bool,
    pub shared: &'a SharedState,
    pub stopping: &'a Stopping,
}

/// The end of a request.
enum Outcome {
    Taken,
    Refused {
        why: String,
        /// Whether a part of the request may be taken.
        is_divisible: bool,
        /// Whether the server may have taken it at an earlier attempt.
        is_in_doubt: bool,
    },
    Stopped,
}

/// The meaning of an answer.
enum Verdict {
    Taken,
    Refused { why: String, is_divisible: bool },
    Retry { why: String, after: Option<Duration> },
}

impl Sending<'_> {
    /// Sends a request until it is taken or refused. Returns false if the handler stops before that.
    pub fn deliver(&self, parts: Vec<Part>, is_in_doubt: bool) -> bool {
        let (mut requests, mut divisions) = (vec![parts], 0);
        while let Some(parts) = requests.pop() {
            match self.send(&parts) {
                Outcome::Stopped => return false,
                Outcome::Taken => {
                    let mut state = self.shared.lock();
                    state.samples += samples_of(&parts);
                    state.values += points_of(&parts, self.has_sequence);
                    state.ended_instances += parts.iter().filter(|part| part.end.is_some()).count() as u64;
                }
                Outcome::Refused { why, is_divisible, is_in_doubt: again } => {
                    let divided = halves(&parts).filter(|_| is_divisible && divisions < MAX_DIVISIONS);
                    if let Some([first, second]) = divided {
                        divisions += 1;
                        requests.extend([second, first]);
                        continue;
                    }
                    let mut state = self.shared.lock();
                    let counter = match is_in_doubt || again {
                        true => &mut state.unconfirmed_samples,
                        false => &mut state.refused_samples,
                    };
                    *counter += samples_of(&parts);
                    state.last_refusal = Some(why);
                }
            }
        }
        true
    }

    /// Sends one message until there is an answer that is none of a passing state.
    fn send(&self, parts: &[Part]) -> Outcome {
        let message = encode(self.version, parts, self.has_sequence);
        let body = match snap::raw::Encoder::new().compress_vec(&message) {
            Ok(body) => body,
            Err(error) => {
                return Outcome::Refused { why: error.to_string(), is_divisible: true, is_in_doubt: false };
            }
        };
        let (mut pause, mut is_in_doubt) = (RETRY_DELAY, false);
        loop {
            let (why, after) = match self.attempt(&body, parts) {
                Verdict::Taken => {
                    self.shared.note(Condition::Sending, None);
                    return Outcome::Taken;
                }
                Verdict::Refused { why, is_divisible } => {
                    self.shared.note(Condition::Refused, Some(why.clone()));
                    return Outcome::Refused { why, is_divisible, is_in_doubt };
                }
                Verdict::Retry { why, after } => (why, after),
            };
            is_in_doubt = true;
            self.shared.lock().failed_requests += 1;
            self.shared.note(Condition::Failing, Some(why));
            let wait = after.map_or(pause, |after| after.min(MAX_RETRY_AFTER));
            if self.stopping.wait_for(wait) {
                return Outcome::Stopped;
            }
            pause = (pause * 2).min(MAX_RETRY_DELAY);
        }
    }

    fn attempt(&self, body: &[u8], parts: &[Part]) -> Verdict {
        match self.receiver.post(self.version, body) {
            Ok(answer) => {
                let verdict = verdict(self.version, &answer, points_of(parts, self.has_sequence));
                if !matches!(verdict, Verdict::Retry { .. }) {
                    self.shared.lock().requests += 1;
                }
                verdict
            }
            Err(error) => Verdict::Retry { why: shortened(&error.why), after: error.retry_after },
        }
    }
}

/// Returns the meaning of an answer to a request with `points` points.
fn verdict(version: RemoteWriteVersion, answer: &Answer, points: u64) -> Verdict {
    let status = answer.status();
    let why = || shortened(&answer.refusal());
    match status {
        200..=299 if version == RemoteWriteVersion::V1 => Verdict::Taken,
        200..=299 => {
            let written = answer.header("x-prometheus-remote-write-samples-written");
            match written.map(|count| count.trim().parse::<u64>()) {
                Some(Ok(count)) if count >= points => Verdict::Taken,
                Some(Ok(count)) => {
                    let why = format!("the server has written {count} of {points} values");
                    Verdict::Refused { why, is_divisible: false }
                }
                // The specification: such a server knows version 1.0 only, and has written nothing.
                _ => {
                    let why =
                        "the server does not report what it has written: set remote_write.version = \"1.0\"";
                    Verdict::Refused { why: why.into(), is_divisible: false }
                }
            }
        }
        408 | 429 | 500..=599 => Verdict::Retry { why: why(), after: answer.retry_after() },
        400 | 413 | 422 => Verdict::Refused { why: why(), is_divisible: true },
        _ => Verdict::Refused { why: why(), is_divisible: false },
    }
}

/// Returns the beginning of a text of a server, as one line.
fn shortened(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    text.chars().take(MAX_REASON_CHARACTERS).map(plain).collect()
}
