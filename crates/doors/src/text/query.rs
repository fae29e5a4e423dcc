//! Parses requests to text doors. An error names the parameter, its value and the allowed ones.

use crate::{
    past::times::{NotAllowed, Times},
    view::{Blobs, Integers, JsonForm},
};
use axum::http::{HeaderMap, StatusCode};
use oasis_access::Verb;
use oasis_dac::{Delivery, Options, Overflow};
use oasis_http::{
    Problem,
    permissions::{Caller, Refusal},
};
use oasis_wire::quantity::{Epoch, Position};
use std::{fmt::Display, ops::RangeInclusive, str::FromStr, time::Duration};

/// Longest wait of a long poll, in milliseconds.
const MAX_TIMEOUT: u64 = 180_000;
/// Most bytes of padding: browsers of 2012 needed 256.
const MAX_PADDING: usize = 4096;

/// A request, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Node and instance names, in the order of the request.
    pub topics: Vec<(String, String)>,
    /// The time range.
    pub times: Times,
    /// Position at which an earlier answer ended. It overrides the start of the time range.
    pub resume: Option<Positions>,
    /// Delivery and overflow policy, for all of them.
    pub options: Options,
    /// Format of 64-bit integers.
    pub integers: Integers,
    /// Content of blobs.
    pub blobs: Blobs,
    /// Timeout of a long poll.
    pub timeout: Duration,
    /// Spaces before the first line of a stream.
    pub padding: usize,
}

/// The next sample wanted of each topic of a request: `EPOCH:OFFSET,OFFSET…`, in the request's order. An offset counts in the epoch written last before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Positions(pub Vec<Position>);

impl Display for Positions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut epoch = None;
        self.0.iter().enumerate().try_for_each(|(index, at)| {
            let comma = if index == 0 { "" } else { "," };
            match epoch.replace(at.epoch) {
                Some(before) if before == at.epoch => write!(f, "{comma}{}", at.offset),
                _ => write!(f, "{comma}{at}"),
            }
        })
    }
}

impl FromStr for Positions {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || "write EPOCH:OFFSET as the DAC gave it, with one OFFSET for each instance, separated by commas";
        let mut epoch: Option<Epoch> = None;
        let place = |part: &str| {
            let at: Position = match epoch {
                Some(epoch) if !part.contains(':') => format!("{epoch}:{part}").parse(),
                _ => part.parse(),
            }
            .map_err(|_| refuse())?;
            epoch = Some(at.epoch);
            Ok(at)
        };
        text.split(',').map(place).collect::<Result<_, _>>().map(Self)
    }
}

impl Request {
    /// Understands a query string. `Last-Event-ID`, which a browser sends when it connects again, wins over `resume`.
    ///
    /// # Errors
    /// A problem of status 400 that names the parameter.
    pub fn parse(query: &str, headers: &HeaderMap, most_topics: usize) -> Result<Self, Problem> {
        let mut request = Self {
            topics: Vec::new(),
            times: Times::default(),
            resume: None,
            options: Options::default(),
            integers: Integers::Number,
            blobs: Blobs::Size,
            timeout: Duration::from_secs(25),
            padding: 0,
        };
        let mut node = None;
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match (&*name, &*value) {
                ("node", value) => node = Some(value.to_owned()),
                ("instance", value) => request.add(node.as_deref(), value, most_topics)?,
                (name, value) => request.set(name, value)?,
            }
        }
        if request.topics.is_empty() {
            return Err(bad_parameter("instance", "", "name at least one: node=NODE&instance=INSTANCE"));
        }
        if let Some(last) =
            headers.get("last-event-id").and_then(|last| last.to_str().ok()).filter(|last| !last.is_empty())
        {
            request.resume = Some(parsed("Last-Event-ID", last)?);
        }
        request.check_positions()?;
        request.times.check(request.resume.is_some(), request.options.delivery)?;
        Ok(request)
    }

    /// Asks for the permissions to read what the request names.
    ///
    /// # Errors
    /// If one of them is missing.
    pub fn authorize(&self, caller: &Caller) -> Result<(), Refusal> {
        let (live, past) = self.times.needs(self.resume.is_some());
        if live {
            self.authorize_verb(caller, Verb::ReadLive)?;
        }
        if past { self.authorize_verb(caller, Verb::ReadPast) } else { Ok(()) }
    }

    /// Asks for a permission on all that the request names.
    ///
    /// # Errors
    /// If it is missing for one of them.
    pub fn authorize_verb(&self, caller: &Caller, verb: Verb) -> Result<(), Refusal> {
        self.topics.iter().try_for_each(|(node, instance)| caller.authorize_instance(verb, node, instance))
    }

    /// An instance belongs to the node named last.
    fn add(&mut self, node: Option<&str>, instance: &str, most: usize) -> Result<(), Problem> {
        let node = node.ok_or_else(|| {
            bad_parameter("instance", instance, "write the node before it: node=NODE&instance=INSTANCE")
        })?;
        if self.topics.len() >= most {
            return Err(bad_parameter(
                "instance",
                instance,
                &format!("a request may name {most} (doors.max_subscriptions)"),
            ));
        }
        let topic = (node.to_owned(), instance.to_owned());
        if self.topics.contains(&topic) {
            return Err(bad_parameter("instance", instance, "name each instance once"));
        }
        self.topics.push(topic);
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        match name {
            "resume" => self.resume = Some(parsed(name, value)?),
            "from" | "to" | "last" | "points" => self.times.set(name, value)?,
            "delivery" => self.options.delivery = parsed::<Delivery>(name, value)?,
            "overflow" => self.options.overflow = parsed::<Overflow>(name, value)?,
            "integers" => {
                self.integers = match value {
                    "number" => Integers::Number,
                    "string" => Integers::String,
                    _ => return Err(bad_parameter(name, value, "write number or string")),
                }
            }
            "blobs" => {
                self.blobs = match value {
                    "size" => Blobs::Size,
                    "base64" => Blobs::Base64,
                    _ => return Err(bad_parameter(name, value, "write size or base64")),
                }
            }
            "timeout" => self.timeout = Duration::from_secs(bounded(name, value, 0..=MAX_TIMEOUT / 1_000)?),
            "timeout_ms" => self.timeout = Duration::from_millis(bounded(name, value, 0..=MAX_TIMEOUT)?),
            "padding" => self.padding = bounded(name, value, 0..=MAX_PADDING as u64)? as usize,
            _ => return Err(bad_parameter(name, value, PARAMETERS)),
        }
        Ok(())
    }

    /// Returns the forms of values in the answer.
    pub fn form(&self) -> JsonForm {
        JsonForm { integers: self.integers, blobs: self.blobs }
    }

    fn check_positions(&self) -> Result<(), Problem> {
        match &self.resume {
            Some(positions) if positions.0.len() != self.topics.len() => {
                let allowed = format!("give one offset for each of the {} instances", self.topics.len());
                Err(bad_parameter("resume", &positions.to_string(), &allowed))
            }
            _ => Ok(()),
        }
    }
}

const PARAMETERS: &str = "there are node, instance, from, to, last, points, resume, delivery, overflow, integers, blobs, timeout and timeout_ms (long poll), and padding (stream)";

fn bounded(name: &str, value: &str, range: RangeInclusive<u64>) -> Result<u64, Problem> {
    let allowed = || format!("write a whole number from {} to {}", range.start(), range.end());
    value
        .parse()
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| bad_parameter(name, value, &allowed()))
}

fn parsed<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T, Problem> {
    value.parse().map_err(|error: T::Err| bad_parameter(name, value, &error.to_string()))
}

fn bad_parameter(name: &str, value: &str, allowed: &str) -> Problem {
    NotAllowed::new(name, value, allowed).into()
}

impl From<NotAllowed> for Problem {
    fn from(error: NotAllowed) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_parameter", format!("parameter {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: &str = "00000000000000ab";

    fn parse(query: &str) -> Result<Request, String> {
        Request::parse(query, &HeaderMap::new(), 3)
            .map_err(|problem| serde_json::to_value(problem).unwrap()["detail"].as_str().unwrap().to_owned())
    }

    #[test]
    fn instances_belong_to_the_node_named_last() {
        let request = parse("node=a&instance=x&instance=y+z&node=b&instance=x").unwrap();
        let names: Vec<_> =
            request.topics.iter().map(|(node, name)| (node.as_str(), name.as_str())).collect();
        assert_eq!(names, [("a", "x"), ("a", "y z"), ("b", "x")]);
    }

    #[test]
    fn positions_read_back_as_they_were_written() {
        let text = format!("{EPOCH}:7,0");
        let request = parse(&format!("node=a&instance=x&instance=y&resume={text}")).unwrap();
        let positions = request.resume.unwrap();
        let offsets: Vec<_> = positions.0.iter().map(|at| at.offset.0).collect();
        assert_eq!((positions.to_string(), offsets), (text, vec![7, 0]));
        for text in [format!("{EPOCH}:7,00000000000000ac:0"), format!("{EPOCH}:7,0,00000000000000ac:9,9")] {
            assert_eq!(text.parse::<Positions>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_timeout_has_seconds_or_milliseconds() {
        let timeout = |query: &str| parse(&format!("node=a&instance=x{query}")).unwrap().timeout.as_millis();
        assert_eq!(
            ["", "&timeout=180", "&timeout_ms=250", "&timeout=1&timeout_ms=180000"].map(timeout),
            [25_000, 180_000, 250, 180_000]
        );
    }

    #[test]
    fn the_position_of_a_browser_wins() {
        let mut headers = HeaderMap::new();
        headers.insert("last-event-id", format!("{EPOCH}:9").parse().unwrap());
        let query = format!("node=a&instance=x&resume={EPOCH}:5&from=now");
        for (headers, offset) in [(&headers, 9), (&HeaderMap::new(), 5)] {
            let request = Request::parse(&query, headers, 3).unwrap();
            assert_eq!(request.resume.unwrap().0[0].offset.0, offset);
        }
    }

    #[test]
    fn an_error_names_the_value_and_the_allowed_ones() {
        for (query, words) in [
            ("", ["instance", "node=NODE"]),
            ("instance=x", ["\"x\"", "before"]),
            ("node=a&instance=x&instance=x", ["\"x\"", "once"]),
            ("node=a&instance=1&instance=2&instance=3&instance=4", ["\"4\"", "doors.max_subscriptions"]),
            ("node=a&instance=x&delivery=fast", ["delivery", "max_hz=N"]),
            ("node=a&instance=x&delivery=max_hz=0", ["delivery", "0.01"]),
            ("node=a&instance=x&overflow=drop", ["\"drop\"", "gap, latest or close"]),
            ("node=a&instance=x&from=then", ["\"then\"", "earliest"]),
            ("node=a&instance=x&to=then", ["\"then\"", "-15m"]),
            ("node=a&instance=x&from=1763683200", ["\"1763683200\"", "like seconds since 1970"]),
            ("node=a&instance=x&to=2026-05-04T12:00:00+02:00", ["\"2026-05-04T12:00:00 02:00\"", "%2B"]),
            (
                "node=a&instance=x&from=2026-05-05&to=2026-05-04",
                ["2026-05-05T00:00:00Z", "later than to, 2026-05-04"],
            ),
            ("node=a&instance=x&from=-1h&delivery=latest", ["\"latest\"", "only every"]),
            ("node=a&instance=x&from=-1h&points=0", ["\"0\"", "from 1 to 10000"]),
            ("node=a&instance=x&points=600", ["points", "from=-1h"]),
            ("node=a&instance=x&last=0", ["\"0\"", "from 1 to 10000"]),
            ("node=a&instance=x&from=-1h&points=600&last=9", ["last", "not for both"]),
            ("node=a&instance=x&from=earliest&last=9", ["last", "is a time"]),
            ("node=a&instance=x&last=9&delivery=latest", ["\"latest\"", "only every"]),
            ("node=a&instance=x&integers=hex", ["\"hex\"", "string"]),
            ("node=a&instance=x&blobs=hex", ["\"hex\"", "base64"]),
            ("node=a&instance=x&timeout=181", ["timeout", "180"]),
            ("node=a&instance=x&timeout_ms=180001", ["timeout_ms", "180000"]),
            ("node=a&instance=x&padding=-1", ["padding", "4096"]),
            ("node=a&instance=x&resume=1:2", ["\"1:2\"", "EPOCH:OFFSET"]),
            ("node=a&instance=x&resume=00000000000000ab:1,2", ["resume", "each of the 1"]),
            ("node=a&instance=x&speed=1", ["speed", "delivery"]),
        ] {
            let refused = parse(query).unwrap_err();
            assert!(words.iter().all(|word| refused.contains(word)), "{query}: {refused}");
        }
    }

    #[test]
    fn a_date_is_its_beginning_utc_and_a_zone_needs_its_plus() {
        let times = |times: &str| parse(&format!("node=a&instance=x&{times}")).unwrap().times;
        let day = times("from=2026-05-04&to=2026-05-05");
        assert_eq!(day, times("from=2026-05-04T02:00:00%2B02:00&to=2026-05-05T00:00:00Z"));
        // A reader that resumes at a position does not begin at `from`.
        times(&format!("from=2026-05-05&to=2026-05-04&resume={EPOCH}:5"));
    }
}
