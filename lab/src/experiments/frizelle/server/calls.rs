//! The four calls as requests: a path, a query, and for the request manager a body.

use std::{sync::atomic::AtomicBool, sync::atomic::Ordering, time::Duration};

/// Longest body of a request.
pub const MAX_BODY: usize = 4096;

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Time stamper: the client's time in, the server's out.
    Timestamp {
        /// The client's time, as it was given.
        client: String,
    },
    /// Log manager.
    Log {
        /// Whether the server logs from now on.
        is_enabled: bool,
    },
    /// Event manager: creates an event, or changes its interval.
    SetEvent {
        /// The event's name.
        name: String,
        /// Between two emits.
        interval: Duration,
    },
    /// Event manager: stops all events.
    ClearEvents,
    /// Request manager; the body says the rest.
    Request,
}

/// Request of a client to the request manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRequest {
    /// Whether it stays after an event.
    pub is_comet: bool,
    /// Events it is interested in.
    pub events: Vec<String>,
    /// Longest wait of a long poll.
    pub duration: Duration,
}

impl Call {
    /// The call of a path with its query, or an error for the client.
    pub fn parse(path_and_query: &str) -> Result<Self, String> {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        match path {
            "/timestamp" => Ok(Self::Timestamp { client: parameter(query, "client").into() }),
            "/log" => Ok(Self::Log { is_enabled: parameter(query, "enabled") == "true" }),
            "/event/set" => {
                let interval = milliseconds(parameter(query, "interval"))?;
                Ok(Self::SetEvent { name: parameter(query, "name").into(), interval })
            }
            "/event/clear" => Ok(Self::ClearEvents),
            "/request" => Ok(Self::Request),
            _ => Err(format!("no call {path}")),
        }
    }
}

impl EventRequest {
    /// Parses the body of a request.
    pub fn parse(body: &str) -> Result<Self, String> {
        let events = parameter(body, "events").split(',').filter(|name| !name.is_empty());
        Ok(Self {
            is_comet: parameter(body, "type") == "comet",
            events: events.map(str::to_owned).collect(),
            duration: milliseconds(parameter(body, "duration"))?,
        })
    }
}

/// A parameter; names and numbers of the experiment need no decoding.
fn parameter<'a>(form: &'a str, name: &str) -> &'a str {
    let mut pairs = form.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_millis).map_err(|_| format!("{text:?} is no number of milliseconds"))
}

static IS_LOGGING: AtomicBool = AtomicBool::new(false);

/// The log manager: switches the log.
pub fn set_logging(is_enabled: bool) {
    IS_LOGGING.store(is_enabled, Ordering::Relaxed);
}

/// Logs a line, if that is switched on.
pub fn log(line: impl FnOnce() -> String) {
    if IS_LOGGING.load(Ordering::Relaxed) {
        eprintln!("{}", line());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_paths_with_parameters() {
        let set = Call::SetEvent { name: "event1".into(), interval: Duration::from_millis(250) };
        assert_eq!(Call::parse("/event/set?name=event1&interval=250"), Ok(set));
        assert_eq!(Call::parse("/log?enabled=true"), Ok(Call::Log { is_enabled: true }));
        assert!(Call::parse("/event/set?name=event1").unwrap_err().contains("milliseconds"));
        assert!(Call::parse("/other").is_err());
    }

    #[test]
    fn a_wish_is_a_form() {
        let wish = EventRequest {
            is_comet: false,
            events: vec!["a".into(), "b".into()],
            duration: Duration::from_secs(3),
        };
        assert_eq!(EventRequest::parse("type=poll&events=a,b&duration=3000"), Ok(wish));
        assert_eq!(
            EventRequest::parse("type=comet&events=&duration=0").map(|wish| wish.events),
            Ok(Vec::new())
        );
    }
}
