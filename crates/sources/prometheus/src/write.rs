//! Pushes the samples of a request.

use crate::{
    PrometheusConfig,
    loops::find_loop,
    message::{BadSeries, Message, Series},
    names::Names,
    native_histogram::histogram_type,
    presence::Presence,
    scrape::ScrapedHistogram,
};
use oasis_format::{columns::Cell, input::checked_time};
use oasis_source_node::{DeclaredSample, SourceNodes, SourceSample};
use oasis_wire::schema::ProbeType;
use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Most characters of a reason: it can quote names of the sender.
const MAX_REASON_CHARACTERS: usize = 300;
/// Most types of native histograms that are kept; further ones are made anew.
const MAX_CACHED_TYPES: usize = 10_000;
const NANOSECONDS_PER_MILLISECOND: i128 = 1_000_000;

/// The outcome of a request.
#[derive(Debug, Default)]
pub struct Written {
    /// Samples that were taken, ends of series included.
    pub taken: u64,
    pub refused: u64,
    /// Refused samples of instances that the sender may not write.
    pub forbidden: u64,
    /// Samples that the DAC has sent itself, of which nothing is taken.
    pub looped: u64,
    /// The newest series of these.
    pub newest_loop: Option<String>,
    /// Native histograms, of which nothing is taken.
    pub histograms: u64,
    /// Exemplars, of which nothing is taken.
    pub exemplars: u64,
    /// Nodes whose series have all ended.
    pub ended: BTreeSet<String>,
    /// Why the first sample was refused.
    pub reason: Option<String>,
    /// Whether the message could be read to its end.
    pub is_damaged: bool,
}

impl Written {
    pub fn refuse(&mut self, samples: u64, why: &str) {
        self.refused += samples;
        self.reason.get_or_insert_with(|| why.chars().take(MAX_REASON_CHARACTERS).collect());
    }
}

/// Types of native histograms, by metric.
#[derive(Debug, Default)]
pub struct HistogramTypes(HashMap<String, Arc<ProbeType>>);

impl HistogramTypes {
    fn get(&mut self, metric: &str) -> Arc<ProbeType> {
        if let Some(known) = self.0.get(metric) {
            return known.clone();
        }
        if self.0.len() == MAX_CACHED_TYPES {
            self.0.clear();
        }
        let new = Arc::new(histogram_type(metric));
        self.0.insert(metric.to_owned(), new.clone());
        new
    }
}

/// Pushes samples.
pub struct Writer<'a> {
    pub config: &'a PrometheusConfig,
    pub may_write: &'a dyn Fn(&str, &str) -> bool,
    pub nodes: &'a mut SourceNodes,
    pub presence: &'a mut Presence,
    pub written: Written,
    pub names: Names,
}

impl Writer<'_> {
    /// Pushes all samples of a message.
    pub fn write(&mut self, mut message: Message<'_>) {
        while let Some(series) = message.next_series() {
            match series {
                Ok(mut series) => self.push(&mut series),
                Err(why) => {
                    self.written.is_damaged |= why == BadSeries::Wire;
                    let metric = message.metric();
                    let of = if metric.is_empty() { "" } else { ": " };
                    self.written.refuse(1, &format!("{metric}{of}{why}"));
                }
            }
        }
    }

    /// Returns whether a series comes from this DAC, and counts its samples then.
    fn leave_out_loop(&mut self, labels: &[(&str, &str)], samples: u64) -> bool {
        let is_registered = |node: &str, instance: &str| self.nodes.is_registered(node, instance);
        let Some(series) = find_loop(labels, is_registered) else { return false };
        self.written.looped += samples;
        self.written.newest_loop = Some(series);
        true
    }

    /// Pushes a native histogram, whose type is in `types`.
    pub fn push_histogram(&mut self, of: &ScrapedHistogram, types: &mut HistogramTypes, row: &mut Vec<u8>) {
        let labels: Vec<(&str, &str)> = of.labels.iter().map(|(name, value)| (&**name, &**value)).collect();
        if self.leave_out_loop(&labels, 1) {
            return;
        }
        let taken = self.names.take(&labels, self.config).and_then(|metric| {
            let time = checked_time(i128::from(of.time) * NANOSECONDS_PER_MILLISECOND);
            let time = time.map_err(|why| format!("{}/{}: {why}", self.names.node, self.names.instance))?;
            of.histogram.write(row);
            let (node, instance, probe_type) = (&*self.names.node, &*self.names.instance, types.get(metric));
            let sample = DeclaredSample { node, instance, probe_type: &probe_type, time, row };
            self.nodes.push_declared(&sample).map_err(|why| why.to_string())
        });
        match taken {
            Ok(()) => self.written.taken += 1,
            Err(why) => self.written.refuse(1, &why),
        }
    }

    /// Pushes the samples of a series.
    pub fn push(&mut self, series: &mut Series<'_>) {
        // Prometheus sorts them; another order is no other series.
        series.labels.sort_unstable();
        self.written.histograms += series.histograms;
        self.written.exemplars += series.exemplars;
        let metric = match self.names.take(&series.labels, self.config) {
            Ok(metric) => metric,
            Err(why) => return self.written.refuse(series.points.len() as u64, &why),
        };
        let (node, instance) = (&*self.names.node, &*self.names.instance);
        if !(self.may_write)(node, instance) {
            self.written.forbidden += series.points.len() as u64;
            let why = format!("write is not permitted for {node}/{instance}");
            return self.written.refuse(series.points.len() as u64, &why);
        }
        if self.leave_out_loop(&series.labels, series.points.len() as u64) {
            return;
        }
        let (node, instance) = (&*self.names.node, &*self.names.instance);
        for point in &series.points {
            let time = match checked_time(i128::from(point.time) * NANOSECONDS_PER_MILLISECOND) {
                Ok(time) => time,
                Err(why) => {
                    self.written.refuse(1, &format!("{node}/{instance}: {why}"));
                    continue;
                }
            };
            let fields = [(Cow::Borrowed("value"), Cell::Real(point.value))];
            let sample = SourceSample { node, instance, type_name: metric, time, fields: &fields };
            match self.nodes.push(&sample) {
                Ok(_) => {
                    self.written.taken += 1;
                    if self.presence.note(node, instance, point.value) {
                        self.written.ended.insert(node.to_owned());
                    } else {
                        self.written.ended.remove(node);
                    }
                }
                Err(why) => self.written.refuse(1, &why.to_string()),
            }
        }
    }
}
