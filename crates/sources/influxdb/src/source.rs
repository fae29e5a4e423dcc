//! The source while it runs: its nodes, its counters, and the answers to requests.

use crate::{
    InfluxdbConfig, answer,
    request::{Precision, Version, parameter},
    write::{Writer, Written},
};
use oasis_dac::{Dac, now};
use oasis_handler::{Acknowledge, InletAnswer, InletRequest, StoredSamples};
use oasis_source_node::{BodyError, Repeats, SourceLimits, SourceNodes, decoded, wait_until_stored};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Takes line protocol.
#[derive(Debug)]
pub struct LineProtocolSource {
    config: InfluxdbConfig,
    /// Present while the source runs. Locked while the points of a request are pushed.
    open: Mutex<Option<OpenSource>>,
    counters: Mutex<Counters>,
}

struct OpenSource {
    nodes: SourceNodes,
    repeats: Repeats,
    archive: Option<Arc<dyn StoredSamples>>,
}

impl std::fmt::Debug for OpenSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenSource").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

/// Counters since the start of the DAC.
#[derive(Debug, Default, Clone)]
struct Counters {
    requests: u64,
    points: u64,
    /// Points that were taken, and that the DAC refused.
    lost_points: u64,
    refused_points: u64,
    left_out_fields: u64,
    replaced_texts: u64,
    rounded_values: u64,
    repeated_requests: u64,
    repeated_samples: u64,
    refused_requests: u64,
    nodes: usize,
    series: usize,
    newest_refusal: Option<String>,
}

impl LineProtocolSource {
    /// Creates a source that is not open yet.
    pub fn new(config: InfluxdbConfig) -> Self {
        Self { config, open: Mutex::default(), counters: Mutex::default() }
    }

    /// Takes requests from now on.
    pub fn open(&self, dac: Arc<Dac>, archive: Option<Arc<dyn StoredSamples>>) {
        let limits = SourceLimits {
            max_nodes: self.config.max_nodes,
            max_instances: self.config.max_series,
            ..SourceLimits::default()
        };
        let nodes = SourceNodes::new(dac, "oasis influxdb", limits).resuming(archive.clone());
        *self.source() = Some(OpenSource { nodes, repeats: Repeats::default(), archive });
    }

    /// Takes no requests any more; its nodes leave.
    pub fn close(&self) {
        *self.source() = None;
    }

    /// Returns the state of the handler.
    pub fn state(&self) -> Value {
        let counters = self.counters().clone();
        json!({
            "requests": counters.requests,
            "points": counters.points,
            "lost_points": counters.lost_points,
            "refused_points": counters.refused_points,
            "left_out_fields": counters.left_out_fields,
            "replaced_texts": counters.replaced_texts,
            "rounded_values": counters.rounded_values,
            "repeated_requests": counters.repeated_requests,
            "repeated_samples": counters.repeated_samples,
            "refused_requests": counters.refused_requests,
            "nodes": counters.nodes,
            "series": counters.series,
            "newest_refusal": counters.newest_refusal,
        })
    }

    /// Returns what was refused.
    pub fn warnings(&self) -> Vec<String> {
        let counters = self.counters();
        let refusal = counters.newest_refusal.as_ref();
        let warning = |why: &String| {
            let (points, fields, requests) =
                (counters.refused_points, counters.left_out_fields, counters.refused_requests);
            format!(
                "line protocol: {points} points, {fields} fields and {requests} requests refused, the newest: {why}"
            )
        };
        refusal.map(warning).into_iter().collect()
    }

    /// Answers a request; `None` for other paths.
    pub fn receive(&self, request: &InletRequest<'_>) -> Option<InletAnswer> {
        match (request.method, request.path) {
            ("GET" | "HEAD", "/ping") => return Some(answer::ping()),
            ("GET" | "HEAD", "/health") => return Some(answer::health()),
            (_, "/query") => {
                let of_body = String::from_utf8_lossy(request.body);
                let text = parameter(request.query, "q").or_else(|| parameter(&of_body, "q"));
                return Some(answer::query(&text.unwrap_or_default()));
            }
            _ => {}
        }
        let version = Version::of_write(request.path)?;
        Some(self.write(request, version))
    }

    fn write(&self, request: &InletRequest<'_>, version: Version) -> InletAnswer {
        self.counters().requests += 1;
        let precision = match Precision::of_query(request.query, version) {
            Ok(precision) => precision,
            Err(value) => {
                let message = format!("the precision {value:?} is unknown: send ns, us, ms or s");
                return self.refuse(version, 400, &message);
            }
        };
        let body = match decoded((request.header)("content-encoding"), request.body) {
            Ok(body) => body,
            Err(why @ BodyError::TooLong) => return self.refuse(version, 413, &why.to_string()),
            Err(why) => return self.refuse(version, 400, &why.to_string()),
        };
        let digest = Repeats::digest(request.query, &body);
        let writer = Writer { config: &self.config, precision, now: now().0, may_write: request.may_write };
        let mut open = self.source();
        let Some(source) = &mut *open else {
            drop(open);
            return self.refuse(version, 503, "the handler influxdb stops: send the points again");
        };
        let archive = source.archive.clone();
        let mut outcome = None;
        if source.repeats.has(digest) {
            self.counters().repeated_requests += 1;
        } else {
            let written = writer.write(&body, &mut source.nodes);
            let lost = source.nodes.flush();
            self.count(&written, &source.nodes, lost.count);
            if lost.count > 0 {
                drop(open);
                let message = format!("{} points are lost, send them again: {}", lost.count, lost.reason);
                return self.refuse(version, 503, &message);
            }
            if written.has_times && written.refused == 0 {
                source.repeats.remember(digest);
            }
            outcome = Some(written);
        }
        // Others push while this request waits.
        drop(open);
        if self.config.acknowledge == Acknowledge::Stored
            && let Some(archive) = archive
            && let Err(why) = wait_until_stored(&*archive)
        {
            return self.refuse(version, 503, &format!("the points are received but not stored: {why}"));
        }
        outcome.map_or_else(|| answer::no_content(version), |written| answer::written(version, &written))
    }

    fn count(&self, written: &Written, nodes: &SourceNodes, lost: u64) {
        let mut counters = self.counters();
        counters.points += written.taken.saturating_sub(lost);
        counters.lost_points += lost;
        counters.refused_points += written.refused;
        counters.left_out_fields += written.left_out_fields;
        counters.replaced_texts += written.replaced;
        counters.rounded_values = nodes.rounded();
        counters.repeated_samples = nodes.repeated();
        (counters.nodes, counters.series) = (nodes.node_count(), nodes.instance_count());
        if let Some(first) = written.listed.first() {
            counters.newest_refusal = Some(format!("line {} ({:?}): {}", first.line, first.text, first.why));
        }
    }

    fn refuse(&self, version: Version, status: u16, message: &str) -> InletAnswer {
        let mut counters = self.counters();
        counters.refused_requests += 1;
        counters.newest_refusal = Some(message.to_owned());
        answer::error(version, status, message)
    }

    fn source(&self) -> MutexGuard<'_, Option<OpenSource>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
