//! Requests: an `ExportMetricsServiceRequest`.

use crate::json::{attribute, real};
use oasis_dac::Instance;
use oasis_format::table::Cell;
use oasis_wire::quantity::TopicId;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::Arc,
};

/// Cumulative, in the enum `AggregationTemporality`.
const CUMULATIVE: u8 = 2;

/// The name of a series, and what all its values share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesName {
    pub name: Arc<str>,
    /// A UCUM unit, as OpenTelemetry has them.
    pub unit: Arc<str>,
    pub doc: Arc<str>,
    pub is_counter: bool,
}

/// A value of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub instance: String,
    /// Nanoseconds since 1970 on the clock of the node.
    pub time: u64,
    /// A member `asInt` or `asDouble`.
    pub value: Value,
}

/// The content of one request.
#[derive(Debug, Default)]
pub struct Batch {
    nodes: BTreeMap<String, BTreeMap<SeriesName, Vec<Point>>>,
    /// Samples received and missing, by node and instance.
    ledgers: Vec<Ledger>,
    points: u64,
    /// Topics, and the offset of the sample of each.
    pub sent: HashMap<TopicId, u64>,
}

#[derive(Debug)]
struct Ledger {
    node: String,
    instance: String,
    received: u64,
    causes: Vec<(&'static str, u64)>,
}

/// Returns the value of a cell; `None` of one without a number.
pub fn number(cell: &Cell<'_>) -> Option<Value> {
    let double = |value: f64| json!({"asDouble": real(value)});
    let int = |value: i64| json!({"asInt": value.to_string()});
    Some(match *cell {
        Cell::Int(value) => int(value),
        Cell::Uint(value) => i64::try_from(value).map_or_else(|_| double(value as f64), int),
        Cell::Real32(value) => double(value.into()),
        Cell::Real64(value) => double(value),
        Cell::Boolean(value) => int(value.into()),
        Cell::Nothing | Cell::Text(_) | Cell::Blob(_) => return None,
    })
}

impl Batch {
    /// The number of values.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Adds the sample of an instance, whose offset is `offset`.
    pub fn add(&mut self, instance: &Instance, offset: u64, points: Vec<(SeriesName, Point)>) {
        let node = instance.node.to_string();
        self.sent.insert(instance.topic, offset);
        let series = self.nodes.entry(node.clone()).or_default();
        self.points += points.len() as u64;
        for (name, point) in points {
            series.entry(name).or_default().push(point);
        }
        let ledger = instance.ledger();
        let causes = ledger.causes.iter().map(|(cause, count)| (cause.word(), *count)).collect();
        let received = ledger.received;
        drop(ledger);
        self.ledgers.push(Ledger { node, instance: instance.name.to_string(), received, causes });
    }

    /// The bytes of the request. The DAC has counted samples from `counted.start` to `counted.end`, nanoseconds since 1970 on its clock.
    pub fn request(&self, counted: Range<u64>) -> Vec<u8> {
        let resources: Vec<Value> = self
            .nodes
            .iter()
            .map(|(node, series)| {
                let metrics = series.iter().map(|(name, points)| metric(name, points));
                let metrics: Vec<Value> = metrics.chain(self.ledgers_of(node, &counted)).collect();
                json!({
                    "resource": {"attributes": [attribute("service.name", node)]},
                    "scopeMetrics": [{
                        "scope": {"name": "oasis", "version": env!("CARGO_PKG_VERSION")},
                        "metrics": metrics,
                    }],
                })
            })
            .collect();
        json!({"resourceMetrics": resources}).to_string().into_bytes()
    }

    /// The numbers of samples that the DAC has received, and that are missing, by cause.
    fn ledgers_of(&self, node: &str, counted: &Range<u64>) -> [Value; 2] {
        let of_node = || self.ledgers.iter().filter(|ledger| ledger.node == node);
        let point = |ledger: &Ledger, count: u64, cause: Option<&str>| {
            let cause = cause.map(|cause| attribute("oasis.cause", cause));
            let instance = attribute("oasis.instance", &ledger.instance);
            let attributes: Vec<Value> = [instance].into_iter().chain(cause).collect();
            json!({
                "attributes": attributes,
                "startTimeUnixNano": counted.start.to_string(),
                "timeUnixNano": counted.end.max(counted.start).to_string(),
                "asInt": count.to_string(),
            })
        };
        let received: Vec<Value> = of_node().map(|ledger| point(ledger, ledger.received, None)).collect();
        let missing: Vec<Value> = of_node()
            .flat_map(|ledger| ledger.causes.iter().map(|(cause, count)| point(ledger, *count, Some(cause))))
            .collect();
        let sum = |name: &str, doc: &str, points: Vec<Value>| {
            json!({
                "name": name, "unit": "{sample}", "description": doc,
                "sum": {"aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points},
            })
        };
        [
            sum("oasis.samples.received", "Samples received since the DAC started.", received),
            sum("oasis.samples.missing", "Samples lost since the DAC started, by cause.", missing),
        ]
    }
}

fn metric(SeriesName { name, unit, doc, is_counter }: &SeriesName, points: &[Point]) -> Value {
    let points: Vec<Value> = points.iter().map(data_point).collect();
    let data = match is_counter {
        true => {
            json!({"aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points})
        }
        false => json!({"dataPoints": points}),
    };
    let kind = if *is_counter { "sum" } else { "gauge" };
    json!({"name": name, "unit": unit, "description": doc, kind: data})
}

fn data_point(Point { instance, time, value }: &Point) -> Value {
    let mut point = json!({
        "attributes": [attribute("oasis.instance", instance)],
        "timeUnixNano": time.to_string(),
    });
    if let (Value::Object(point), Value::Object(value)) = (&mut point, value) {
        point.extend(value.clone());
    }
    point
}
