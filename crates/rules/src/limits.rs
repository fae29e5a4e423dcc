//! Rules from the limits that probe types declare: `warn`, `alarm`, `min` and `max` of PDL.

use crate::{
    message::{MAX_MESSAGE, Part, parts},
    program::{
        Alarm, Body, Column, Comparison, Condition, Input, Number, OnUnknown, Program, Raise, Rule, Severity,
        Source, SustainedCondition,
    },
};
use oasis_pdl::{Sources, Span};
use oasis_wire::schema::{Metric, MetricType, ProbeType, Threshold};
use std::{path::PathBuf, sync::Arc};

/// Most rules from the limits of one program.
const MAX_RULES: usize = 10_000;
/// Longest name of a metric in a message, in bytes.
const MAX_LABEL: usize = 64;
/// Longest unit in an event, in bytes.
const MAX_UNIT: usize = 32;
/// Levels of structs.
const MAX_DEPTH: usize = 16;

/// The rules of limits.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// One alarm for each limit of a metric, for all instances of its type.
    pub program: Program,
    /// Limits without a rule, because there are too many.
    pub left_out: usize,
}

/// Returns the alarms that these types declare: what is beyond `alarm` has the severity high, and what is beyond `warn`, `min` or `max` the severity medium.
///
/// Versions of a type with the same limits share their rules. An instance is judged by the limits of its own version, as [`Input::reads`] says.
///
/// ```
/// use oasis_wire::schema::{Metric, MetricType, ProbeType, Threshold};
///
/// let alarm = Some(Threshold { above: Some(95.into()), ..Threshold::default() });
/// let metrics = vec![Metric { alarm, ..Metric::new("temperature", MetricType::Real64) }];
/// let uuid = "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse()?;
/// let pump = ProbeType { name: "Plant::Pump".into(), uuid, version: "1.0".into(), doc: None, rate: None, metrics };
///
/// let limits = oasis_rules::limits(&[pump.into()]);
/// assert_eq!(limits.program.rules[0].name, "Plant::Pump.temperature high");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn limits(types: &[Arc<ProbeType>]) -> Limits {
    let mut found = Limits::default();
    // Rules from limits stand in no text.
    let nowhere = Span::new(Sources::default().add(PathBuf::new(), String::new()), 0..0);
    for (at, probe_type) in types.iter().enumerate() {
        if types[..at].contains(probe_type) {
            continue;
        }
        let mut limited = Vec::new();
        collect(&probe_type.metrics, &mut Vec::new(), &mut limited);
        if limited.is_empty() {
            continue;
        }
        if !share(&mut found.program.inputs, probe_type, &limited) {
            found.add(probe_type, limited, nowhere);
        }
    }
    found
}

/// A limit of a metric.
#[derive(Debug, Clone, PartialEq)]
struct Limit {
    column: Column,
    name: &'static str,
    /// The name of the value, if it is one of an enum.
    value_name: Option<String>,
    severity: Severity,
    comparison: Comparison,
    limit: f64,
    label: String,
}

/// The limits of metrics and of the members of structs. Elements of vectors cannot be read.
fn collect(metrics: &[Metric], path: &mut Vec<String>, found: &mut Vec<Limit>) {
    for metric in metrics {
        path.push(metric.name.clone());
        match &metric.kind {
            MetricType::Struct(of) if path.len() < MAX_DEPTH => collect(&of.members, path, found),
            MetricType::Struct(_) | MetricType::Vector(_) | MetricType::String | MetricType::Blob(_) => {}
            MetricType::Int8
            | MetricType::Int16
            | MetricType::Int32
            | MetricType::Int64
            | MetricType::Uint8
            | MetricType::Uint16
            | MetricType::Uint32
            | MetricType::Uint64
            | MetricType::Real32
            | MetricType::Real64
            | MetricType::Boolean => of_metric(metric, path, found),
        }
        path.pop();
    }
}

fn of_metric(metric: &Metric, path: &[String], found: &mut Vec<Limit>) {
    let enumerators = metric.enumeration.iter().flat_map(|of| &of.values);
    let enumerators = enumerators.map(|one| (one.name.clone(), one.value)).collect();
    let column = Column { path: path.to_vec(), unit: metric.unit.clone(), enumerators };
    let mut add = |name, severity, comparison, limit: Option<f64>, value_name| {
        let Some(limit) = limit.filter(|limit| limit.is_finite()) else { return };
        let (column, label) = (column.clone(), label(metric));
        found.push(Limit { column, name, value_name, severity, comparison, limit, label });
    };
    let range = Threshold { below: metric.min.clone(), above: metric.max.clone(), values: Vec::new() };
    for (threshold, severity, low, high) in [
        (metric.alarm.as_ref(), Severity::High, "low", "high"),
        (metric.warn.as_ref(), Severity::Medium, "low warning", "high warning"),
        (Some(&range), Severity::Medium, "below range", "above range"),
    ] {
        let Some(threshold) = threshold else { continue };
        let [below, above] =
            [&threshold.below, &threshold.above].map(|limit| limit.as_ref().and_then(|limit| limit.as_f64()));
        add(low, severity, Comparison::Less, below, None);
        add(high, severity, Comparison::Greater, above, None);
        for value in &threshold.values {
            let known = metric.enumeration.iter().flat_map(|of| &of.values).find(|one| one.value == *value);
            let name = known.map_or_else(|| value.to_string(), |one| one.name.clone());
            // An alarm hides a warning of the same value.
            let is_alarm = metric.alarm.as_ref().is_some_and(|alarm| alarm.values.contains(value));
            if severity == Severity::High || !is_alarm {
                add("", severity, Comparison::Equal, Some(*value as f64), Some(name));
            }
        }
    }
}

/// Adds the type to one of the same name with the same limits, if there is one.
fn share(inputs: &mut [Input], probe_type: &Arc<ProbeType>, limited: &[Limit]) -> bool {
    for input in inputs.iter_mut().filter(|input| input.probe_type == probe_type.name) {
        let Some(known) = input.schemas.first() else { continue };
        let mut of_known = Vec::new();
        collect(&known.metrics, &mut Vec::new(), &mut of_known);
        if of_known == limited {
            input.schemas.push(probe_type.clone());
            return true;
        }
    }
    false
}

impl Limits {
    fn add(&mut self, probe_type: &Arc<ProbeType>, limited: Vec<Limit>, place: Span) {
        let Program { inputs, rules } = &mut self.program;
        let room = MAX_RULES.saturating_sub(rules.len());
        self.left_out += limited.len().saturating_sub(room);
        let mut columns: Vec<Column> = Vec::new();
        for limit in limited.into_iter().take(room) {
            let known = columns.iter().position(|column| *column == limit.column);
            let column = known.unwrap_or_else(|| {
                columns.push(limit.column.clone());
                columns.len() - 1
            });
            rules.push(Rule {
                name: limit.rule_name(&probe_type.name),
                place,
                source: Source::Input(inputs.len()),
                input: inputs.len(),
                slots: Vec::new(),
                feeds: Vec::new(),
                body: Body::Alarm(limit.alarm(column)),
            });
        }
        if !columns.is_empty() {
            let (name, probe_type_name) = (probe_type.name.clone(), probe_type.name.clone());
            let schemas = vec![probe_type.clone()];
            inputs.push(Input { name, pattern: "*/*".into(), probe_type: probe_type_name, columns, schemas });
        }
    }
}

impl Limit {
    /// `Plant::Pump.temperature high`
    fn rule_name(&self, type_name: &str) -> String {
        let metric = self.column.path.join(".");
        format!("{type_name}.{metric} {}", self.value_name.as_deref().unwrap_or(self.name))
    }

    fn alarm(&self, column: usize) -> Alarm {
        let condition = Condition::Compare {
            operator: self.comparison,
            left: Number::Column(column),
            right: Number::Constant(self.limit),
            unit: self.column.unit.as_deref().map(|unit| plain(unit, MAX_UNIT)),
            is_witness: true,
        };
        Alarm {
            raise: Raise::Condition(SustainedCondition { condition, duration: 0 }),
            clear: None,
            severity: self.severity,
            latch: false,
            on_unknown: OnUnknown::Keep,
            message: Some(self.message()),
            notify: None,
            actions: Vec::new(),
        }
    }

    fn message(&self) -> String {
        let label = &self.label;
        let message = match &self.value_name {
            Some(value) => format!("{label} of {{node}}/{{instance}} is {}", plain(value, MAX_LABEL)),
            None => format!("{label} of {{node}}/{{instance}} is {{value}} (limit {{limit}})"),
        };
        debug_assert!(message.len() <= MAX_MESSAGE, "its parts are bounded");
        message
    }
}

fn label(metric: &Metric) -> String {
    plain(metric.label.as_ref().unwrap_or(&metric.name), MAX_LABEL)
}

/// Text of a schema, without placeholders, on one line.
fn plain(text: &str, most: usize) -> String {
    let text: String = text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    let text = &text[..end];
    let is_text = |part: Part<'_>| !matches!(part, Part::Placeholder(_));
    if parts(text).all(is_text) { text.to_owned() } else { text.replace(['{', '}'], "") }
}
