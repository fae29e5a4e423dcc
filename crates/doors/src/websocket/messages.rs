//! Messages of `oasis.v1`: requests and answers as JSON, samples as native batches.

use super::statistics_rows::StatisticsView;
use crate::{
    delta::{RegistryDeltaView, RegistryPosition},
    fleet::FleetRequest,
    past::times::{NotAllowed, Times},
    resume::ResumeAt,
    view,
};
use oasis_channel::InstanceState;
use oasis_dac::{Delivery, NamedRequest, Options, Overflow, SchemaHash, Segment, SkippedRange};
use oasis_websocket::{Opcode, frame};
use oasis_wire::{
    batch,
    gap::Gap,
    loss::Cause,
    quantity::{Epoch, Hertz, Offset, TopicId},
    schema::ProbeType,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{ops::Range, sync::Arc};

/// A message of a client.
#[derive(Debug, Deserialize)]
pub struct Request {
    pub id: i64,
    #[serde(flatten)]
    pub what: What,
}

/// Its operation.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum What {
    Watch(Watch),
    Subscribe(Box<Subscribe>),
    Unsubscribe {
        topic: TopicId,
    },
    Rate {
        topic: TopicId,
        hertz: Option<Hertz>,
    },
    Command {
        node: String,
        instance: String,
        #[serde(flatten)]
        wish: NamedRequest,
    },
    Fleet(FleetRequest),
    EndFleet {
        fleet: u64,
    },
    Ping {
        client_time: f64,
    },
}

/// A client's request for the registry.
#[derive(Debug, Default, Deserialize)]
pub struct Watch {
    /// Changes instead of whole pictures.
    #[serde(default)]
    pub deltas: bool,
    /// The position of the last change that the client has.
    pub resume: Option<RegistryPosition>,
    /// Statistics besides.
    #[serde(default)]
    pub statistics: bool,
    /// With statistics, also the causes of missing samples.
    #[serde(default)]
    pub causes: bool,
    #[serde(default)]
    pub schemas: SchemaDelivery,
}

/// Delivery of schemas to a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaDelivery {
    /// In each `subscribed`.
    #[default]
    Inline,
    /// In a message of its own, once in a connection.
    Once,
}

/// A requested subscription.
#[derive(Debug, Deserialize)]
pub struct Subscribe {
    pub node: String,
    pub instance: String,
    pub resume: Option<ResumeAt>,
    /// Rate to ask of a probe that follows demand, if not that of the delivery.
    pub rate: Option<Hertz>,
    /// Whether to show samples before their turn while the node has a backlog.
    #[serde(default)]
    pub ahead: bool,
    /// Whether to announce what is missing before a batch, with its causes.
    #[serde(default)]
    pub gaps: bool,
    from: Option<Value>,
    to: Option<Value>,
    last: Option<Value>,
    points: Option<Value>,
    #[serde(default)]
    delivery: Delivery,
    #[serde(default)]
    overflow: Overflow,
}

impl Subscribe {
    /// Which samples, and what if it is too late for them.
    pub fn options(&self) -> Options {
        let after = self.resume.and_then(ResumeAt::portable);
        Options { delivery: self.delivery, overflow: self.overflow, after, continues: None }
    }

    /// The time range. Nanoseconds may be a number, or text for clients that would round numbers that large.
    pub fn times(&self) -> Result<Times, NotAllowed> {
        let mut times = Times::default();
        for (name, value) in
            [("from", &self.from), ("to", &self.to), ("last", &self.last), ("points", &self.points)]
        {
            match value {
                None => {}
                Some(Value::String(text)) => times.set(name, text)?,
                Some(Value::Number(number)) => times.set(name, &number.to_string())?,
                Some(other) => {
                    return Err(NotAllowed::new(name, &other.to_string(), "write a string or a number"));
                }
            }
        }
        times.check(self.resume.is_some(), self.delivery)?;
        if self.ahead && !matches!(self.delivery, Delivery::Every | Delivery::Latest) {
            let delivery = self.delivery.to_string();
            return Err(NotAllowed::new("delivery", &delivery, "with ahead use every or latest"));
        }
        Ok(times)
    }
}

/// A message of the DAC.
#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Answer {
    Welcome {
        protocol: u32,
        server: &'static str,
        epoch: Epoch,
        dac_time: u64,
    },
    RegistryDelta(Box<RegistryDeltaView>),
    Statistics(Box<StatisticsView>),
    Schema {
        sha256: SchemaHash,
        schema: Arc<ProbeType>,
    },
    Subscribed {
        id: i64,
        topic: TopicId,
        epoch: Epoch,
        offset: Offset,
        instance: Box<view::SubscribedInstance>,
    },
    Gap {
        topic: TopicId,
        #[serde(flatten)]
        range: Option<Missing>,
        cause: Cause,
    },
    GapsBefore {
        topic: TopicId,
        gaps: Arc<[Gap]>,
    },
    Epoch {
        topic: TopicId,
        epoch: Epoch,
        offset: Offset,
    },
    TypeChanged {
        topic: TopicId,
        #[serde(rename = "type")]
        name: String,
        version: String,
        schema: Box<ProbeType>,
    },
    Unsubscribed {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<i64>,
        topic: TopicId,
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<&'static str>,
    },
    Rate {
        id: i64,
        topic: TopicId,
    },
    Fleet {
        id: i64,
        fleet: u64,
    },
    FleetEnded {
        id: i64,
        fleet: u64,
    },
    Result {
        id: i64,
        status: &'static str,
        #[serde(flatten)]
        state: InstanceState,
    },
    Pong {
        id: i64,
        client_time: f64,
        dac_time: u64,
    },
    Error {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<i64>,
        code: String,
        message: String,
    },
}

/// Offsets of samples that a subscriber will not get.
#[derive(Debug, Serialize)]
pub struct Missing {
    from: Offset,
    to: Offset,
    count: u64,
}

impl Answer {
    /// Answers contain only text, numbers and lists, so JSON cannot fail.
    pub fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// A request that cannot be carried out.
    pub fn error(id: i64, code: &str, message: impl Into<String>) -> Self {
        Self::Error { id: Some(id), code: code.into(), message: message.into() }
    }

    /// Samples that a subscriber will not receive. Without offsets if its position belongs to an earlier run of the DAC.
    pub fn gap(topic: TopicId, range: Option<Range<Offset>>, cause: Cause) -> Self {
        let range =
            range.map(|Range { start, end }| Missing { from: start, to: end, count: end.0 - start.0 });
        Self::Gap { topic, range, cause }
    }

    /// Samples that a reader does not receive.
    pub fn skipped(topic: TopicId, skipped: &SkippedRange) -> Self {
        let SkippedRange { from, to, cause, .. } = *skipped;
        Self::Gap { topic, range: Some(Missing { from, to, count: skipped.count() }), cause }
    }

    /// The node came back with another type under the same name.
    pub fn type_changed(topic: TopicId, probe_type: &ProbeType) -> Self {
        let (name, version) = (probe_type.name.clone(), probe_type.version.clone());
        Self::TypeChanged { topic, name, version, schema: Box::new(probe_type.clone()) }
    }

    /// Appends it as a message.
    pub fn put(&self, out: &mut Vec<u8>) {
        frame::write_message(Opcode::Text, &self.json(), out);
    }
}

/// Appends the announcement of what is missing directly before the wanted samples of a segment, if anything is. A reader that begins in the
/// middle of a batch has received it.
pub fn put_gaps_before(topic: TopicId, segment: &Segment, wanted: &Range<Offset>, out: &mut Vec<u8>) {
    if let Some(gaps) = segment.gaps_before().filter(|_| wanted.start <= segment.first_held()) {
        Answer::GapsBefore { topic, gaps: gaps.clone() }.put(out);
    }
}

/// Appends the wanted samples of a segment, as a batch of this topic.
pub fn put_samples(
    topic: TopicId,
    probe_type: &ProbeType,
    segment: &Segment,
    wanted: &Range<Offset>,
    out: &mut Vec<u8>,
) {
    let first = segment.first_held();
    let index = |offset: Offset| usize::try_from(offset.0.saturating_sub(first.0)).unwrap_or(usize::MAX);
    let (start, end) = (index(wanted.start), index(wanted.end));
    if start >= end {
        return;
    }
    let is_whole = start == 0 && wanted.end >= segment.end();
    let some = (!is_whole).then(|| batch::cut(segment.batch(), probe_type, start..end)).flatten();
    // A malformed batch cannot be cut; its reader detects the error.
    let batch = some.as_deref().unwrap_or(segment.batch());
    frame::write_message(Opcode::Binary, batch, out);
    let place = out.len() - batch.len();
    batch::stamp_topic(out.get_mut(place..).unwrap_or_default(), topic.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscribe(more: &str) -> Result<Times, String> {
        let text = format!(r#"{{"op":"subscribe","id":1,"node":"a","instance":"x"{more}}}"#);
        let request: Request = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let What::Subscribe(wanted) = request.what else { panic!("{text}") };
        wanted.times().map_err(|error| error.to_string())
    }

    #[test]
    fn a_time_is_text_or_a_number_of_nanoseconds() {
        use crate::past::times::Begin;
        let from = |text: &str| subscribe(&format!(r#","from":{text}"#)).unwrap().from;
        let time = 1_763_683_200_000_000_001;
        for text in ["1763683200000000001", r#""1763683200000000001""#, r#""2025-11-21T00:00:00.000000001Z""#]
        {
            assert_eq!(from(text), Begin::Time(time), "{text}");
        }
        assert_eq!((from("null"), from(r#""earliest""#)), (Begin::Now, Begin::Earliest));
        assert!(subscribe(r#","ahead":true,"delivery":"latest""#).is_ok());
        let times = subscribe(r#","from":0,"to":"5","points":"600""#).unwrap();
        assert_eq!((times.until, times.points), (Some(5), Some(600)));
    }

    #[test]
    fn a_fleet_with_an_unknown_field_is_refused() {
        let fleet = |more: &str| {
            let text = format!(r#"{{"op":"fleet","id":1,"nodes":"a*"{more}}}"#);
            serde_json::from_str::<Request>(&text).map_err(|error| error.to_string())
        };
        assert!(fleet(r#","metrics":["load"]"#).is_ok());
        let refused = fleet(r#","metric":"load""#).unwrap_err();
        assert!(refused.contains("unknown field `metric`") && refused.contains("metrics"), "{refused}");
    }

    #[test]
    fn an_error_names_the_value_and_the_allowed_ones() {
        for (more, words) in [
            (r#","from":"then""#, ["from is \"then\"", "earliest, or a time"]),
            (r#","from":1.5"#, ["from is \"1.5\"", "-15m"]),
            (r#","from":-5"#, ["from is \"-5\"", "-15m"]),
            (r#","to":true"#, ["to is \"true\"", "a string or a number"]),
            (r#","to":"then""#, ["to is \"then\"", "-15m"]),
            (r#","from":1763683200"#, ["from is \"1763683200\"", "looks like seconds"]),
            (r#","from":"-1h","to":"-2h""#, ["from is \"20", "later than to, 20"]),
            (r#","from":"-1h","points":0"#, ["points is \"0\"", "from 1 to 10000"]),
            (r#","points":600"#, ["points is \"600\"", "from=-1h"]),
            (r#","from":"-1h","delivery":"latest""#, ["delivery is \"latest\"", "only every"]),
            (r#","to":9,"delivery":"max_hz=1""#, ["delivery is \"max_hz=1\"", "only every"]),
            (r#","ahead":true,"delivery":"max_hz=1""#, ["delivery is \"max_hz=1\"", "every or latest"]),
        ] {
            let refused = subscribe(more).unwrap_err();
            assert!(words.iter().all(|word| refused.contains(word)), "{more}: {refused}");
        }
    }
}
