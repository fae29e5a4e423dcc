//! Pushes the points of a request as samples.

use crate::{InfluxdbConfig, request::Precision};
use oasis_format::{
    columns::Cell,
    input::checked_time,
    line_protocol::{Field, Point, Points, cell, parse, series_key},
    visible::Visible,
};
use oasis_source_node::{SourceNodes, SourceSample, push_node_name};
use std::{borrow::Cow, collections::HashMap};

/// Refused points that are listed one by one.
pub const MAX_LISTED: usize = 20;
/// Most characters of a line in an error.
const MAX_QUOTED_CHARACTERS: usize = 120;
/// Most characters of a reason: it can quote names of the sender.
const MAX_REASON_CHARACTERS: usize = 300;

/// The outcome of a request.
#[derive(Debug, Default)]
pub struct Written {
    /// Points that became samples.
    pub taken: u64,
    /// Points of which nothing was taken.
    pub refused: u64,
    /// Refused points that the sender may not write.
    pub forbidden: u64,
    /// Fields that were left out because of their type.
    pub left_out_fields: u64,
    /// Texts with bytes that are not UTF-8.
    pub replaced: u64,
    /// Whether each point has a time of its own.
    pub has_times: bool,
    /// The first refused points.
    pub listed: Vec<RefusedPoint>,
}

/// A point that was refused.
#[derive(Debug)]
pub struct RefusedPoint {
    pub line: u64,
    pub text: String,
    pub why: String,
}

/// Pushes points.
pub struct Writer<'a> {
    pub config: &'a InfluxdbConfig,
    pub precision: Precision,
    /// The time of points without one, in nanoseconds.
    pub now: u64,
    pub may_write: &'a dyn Fn(&str, &str) -> bool,
}

impl Writer<'_> {
    /// Pushes all points of a body.
    pub fn write(&self, body: &[u8], nodes: &mut SourceNodes) -> Written {
        let mut written = Written { has_times: true, ..Written::default() };
        let mut points = Points::new(body);
        let mut names = Names::default();
        loop {
            let (line, text) = match points.next_point() {
                Ok(Some(next)) => next,
                Ok(None) => break,
                Err(error) => {
                    // The rest cannot be divided into points.
                    written.refuse(0, b"", error.to_string());
                    break;
                }
            };
            let pushed = parse(text).map_err(|why| Why::Bad(why.to_string())).and_then(|point| {
                written.replaced += point.replaced;
                written.has_times &= point.time.is_some();
                self.push(&point, &mut names, nodes)
            });
            match pushed {
                Ok(left_out) => {
                    written.taken += 1;
                    written.left_out_fields += left_out;
                }
                Err(Why::Forbidden) => {
                    written.forbidden += 1;
                    let (node, instance) = (Visible(&names.node), Visible(&names.instance));
                    written.refuse(line, text, format!("write is not permitted for {node}/{instance}"));
                }
                Err(Why::Bad(why)) => written.refuse(line, text, why),
            }
        }
        written
    }

    fn push(&self, point: &Point<'_>, names: &mut Names, nodes: &mut SourceNodes) -> Result<u64, Why> {
        let time = point.time.map_or(i128::from(self.now), |time| self.precision.nanoseconds(time));
        self.name_node(point, &mut names.node)?;
        let tag = Some(&*self.config.node_tag).filter(|tag| !tag.is_empty());
        series_key(point, tag, &mut names.instance);
        let (node, instance) = (&*names.node, &*names.instance);
        let time = checked_time(time);
        let time = time.map_err(|why| Why::Bad(format!("{}/{}: {why}", Visible(node), Visible(instance))))?;
        if !(self.may_write)(node, instance) {
            return Err(Why::Forbidden);
        }
        let fields: Vec<(Cow<'_, str>, Cell<'_>)> = fields(&point.fields);
        let sample = SourceSample { node, instance, type_name: &point.measurement, time, fields: &fields };
        nodes.push(&sample).map_err(|why| Why::Bad(why.to_string()))
    }

    fn name_node(&self, point: &Point<'_>, to: &mut String) -> Result<(), Why> {
        let (tag, prefix) = (&self.config.node_tag, &self.config.node_prefix);
        let host = point.tags.iter().find(|(key, _)| key == tag).map(|(_, value)| value);
        to.clear();
        to.push_str(prefix);
        match host {
            Some(host) => {
                if !prefix.is_empty() {
                    to.push('-');
                }
                push_node_name(host, to);
            }
            None if prefix.is_empty() => {
                return Err(Why::Bad(format!("it has no tag {tag:?}: set influxdb.node_prefix")));
            }
            None => {}
        }
        Ok(())
    }
}

/// Names of the present point, reused for the next one.
#[derive(Debug, Default)]
struct Names {
    node: String,
    instance: String,
}

/// Why a point is refused.
enum Why {
    Bad(String),
    Forbidden,
}

impl Written {
    fn refuse(&mut self, line: u64, text: &[u8], why: String) {
        self.refused += 1;
        if self.listed.len() < MAX_LISTED {
            let text = String::from_utf8_lossy(text).chars().take(MAX_QUOTED_CHARACTERS).collect();
            let why = why.chars().take(MAX_REASON_CHARACTERS).collect();
            self.listed.push(RefusedPoint { line, text, why });
        }
    }
}

/// Returns the fields as cells. Of several fields of one name the last one counts, as in InfluxDB.
fn fields<'a>(of: &'a [(Cow<'a, str>, Field<'a>)]) -> Vec<(Cow<'a, str>, Cell<'a>)> {
    let all = of.iter().map(|(name, field)| (Cow::Borrowed(&**name), cell(field)));
    let mut fields: Vec<(Cow<'a, str>, Cell<'a>)> = Vec::with_capacity(of.len());
    // Names are compared one by one while they are few.
    if of.len() <= 32 {
        for (name, cell) in all {
            match fields.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = cell,
                None => fields.push((name, cell)),
            }
        }
        return fields;
    }
    let mut positions: HashMap<&str, usize> = HashMap::with_capacity(of.len());
    for ((name, cell), (key, _)) in all.zip(of) {
        match positions.get(&**key).and_then(|at| fields.get_mut(*at)) {
            Some(known) => known.1 = cell,
            None => {
                positions.insert(key, fields.len());
                fields.push((name, cell));
            }
        }
    }
    fields
}
