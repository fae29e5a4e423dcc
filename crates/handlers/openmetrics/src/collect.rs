//! Collects the content of a scrape: the state of the DAC, and the newest samples.

use crate::{
    exposition::{Exposition, Kind},
    families::Families,
};
use oasis_dac::{Admission, Dac, Evicted, Instance, SOFTWARE, ShardFigures};
use oasis_format::table::Cell;
use oasis_handler::{HandlerMetric, HandlerMetrics, MetricKind};
use oasis_store::History;
use oasis_wire::{batch::Batch, pattern::matches};
use std::{
    collections::{BTreeMap, BTreeSet},
    ptr,
    sync::Arc,
};

/// Health and counters of the DAC.
pub fn dac(dac: &Dac, out: &mut Exposition) {
    let version = SOFTWARE.split_once(' ').map_or(SOFTWARE, |(_, version)| version);
    out.sample(
        ("oasis_dac_info", Kind::Gauge, "Always 1; the label has the version."),
        &[("version", version)],
        "1",
        None,
    );
    let online = dac.registry.nodes().iter().filter(|node| node.is_online()).count();
    let nodes = ("oasis_dac_nodes_online", Kind::Gauge, "Nodes that are connected.");
    out.sample(nodes, &[], &online.to_string(), None);
    let bytes = ("oasis_dac_log_bytes", Kind::Gauge, "Memory that topic logs use, in bytes.");
    out.sample(bytes, &[], &dac.budget.used().to_string(), None);
    let Evicted { nodes, instances, unread_samples } = dac.registry.evicted();
    let evicted = ("oasis_dac_nodes_evicted", Kind::Counter, "Offline nodes that were evicted for others.");
    out.sample(evicted, &[], &nodes.to_string(), None);
    let evicted =
        ("oasis_dac_instances_evicted", Kind::Counter, "Offline instances that were evicted for others.");
    out.sample(evicted, &[], &instances.to_string(), None);
    let unread =
        ("oasis_dac_unread_samples", Kind::Counter, "Samples of replaced topics that no handler had read.");
    out.sample(unread, &[], &unread_samples.to_string(), None);
    refused("oasis_channel_refused", "Nodes refused or closed, by reason.", &dac.admission, out);
    if let Some(clients) = dac.clients.get() {
        refused("oasis_doors_refused", "Clients and requests refused or closed, by reason.", clients, out);
    }
    for instance in present(dac) {
        ledger(&instance, out);
    }
}

/// Writes the metrics of handlers and sources.
pub fn handlers(handlers: &HandlerMetrics, out: &mut Exposition) {
    for HandlerMetric { handler, name, kind, label, value } in &handlers.metrics {
        let (family, help) = match name.as_str() {
            "up" => (
                "oasis_handler_up".to_owned(),
                "1 while a handler runs without a problem, else 0.".to_owned(),
            ),
            "restarts" => ("oasis_handler_restarts".into(), "Restarts of a handler after a failure.".into()),
            name => {
                (format!("oasis_handler_{name}"), format!("The number {name} in the state of a handler."))
            }
        };
        let kind = match kind {
            MetricKind::Counter => Kind::Counter,
            MetricKind::Gauge => Kind::Gauge,
        };
        let mut labels = vec![("handler", *handler)];
        labels.extend(label.as_ref().map(|(name, value)| (*name, value.as_str())));
        out.sample((&family, kind, &help), &labels, value, None);
    }
    out.omit(handlers.omitted);
}

fn refused(name: &'static str, help: &'static str, admission: &Admission, out: &mut Exposition) {
    for (code, count) in admission.counters().refused {
        out.sample((name, Kind::Counter, help), &[("code", &code)], &count.to_string(), None);
    }
}

/// Writes the activity of the threads that write to WebSockets.
pub fn shards(shards: &[ShardFigures], out: &mut Exposition) {
    let open = shards.iter().filter(|shard| !shard.is_leaving).count();
    let head = ("oasis_doors_shards", Kind::Gauge, "Threads that write to WebSockets and take connections.");
    out.sample(head, &[], &open.to_string(), None);
    for shard in shards {
        let number = shard.number.to_string();
        let mut put = |name, kind, help, value: String| {
            out.sample((name, kind, help), &[("shard", &number)], &value, None);
        };
        let connections = shard.connections.to_string();
        put("oasis_doors_shard_connections", Kind::Gauge, "Connections of a shard.", connections);
        let cpu = shard.cpu.as_secs_f64().to_string();
        put("oasis_doors_shard_cpu_seconds", Kind::Counter, "Processor time of a shard, in seconds.", cpu);
        let bytes = shard.bytes.to_string();
        put("oasis_doors_shard_bytes", Kind::Counter, "Bytes that the sockets of a shard have taken.", bytes);
        let wakeups = shard.wakeups.to_string();
        put("oasis_doors_shard_wakeups", Kind::Counter, "Times that a shard was woken.", wakeups);
        let deliveries = shard.deliveries.to_string();
        let help = "Topics that a shard has written to their readers.";
        put("oasis_doors_shard_deliveries", Kind::Counter, help, deliveries);
        let lag = shard.lag.as_secs_f64().to_string();
        let help = "Sum over deliveries of the time from ready to written, in seconds.";
        put("oasis_doors_shard_lag_seconds", Kind::Counter, help, lag);
        let longest = shard.longest_lag.as_secs_f64().to_string();
        let help = "Longest time from ready to written in the last second, in seconds.";
        put("oasis_doors_shard_longest_lag_seconds", Kind::Gauge, help, longest);
    }
}

/// Writes the fill level of the archive, and its warnings.
pub fn archive(history: &History, out: &mut Exposition) {
    let counters = history.0.counters.lock().clone();
    let bytes = ("oasis_archive_rule_bytes", Kind::Gauge, "Bytes of the files of a retention rule.");
    let limit =
        ("oasis_archive_rule_limit_bytes", Kind::Gauge, "Size limit of a retention rule; 0 for none.");
    let pinned =
        ("oasis_archive_pinned_bytes", Kind::Gauge, "Bytes that pinned test runs keep from eviction.");
    for (head, of) in [(bytes, 0), (limit, 1), (pinned, 2)] {
        for rule in &counters.rules {
            let value = [rule.bytes, rule.limit, rule.pinned_bytes][of];
            out.sample(head, &[("rule", &rule.instances)], &value.to_string(), None);
        }
    }
    let removed = (
        "oasis_archive_samples_removed",
        Kind::Counter,
        "Samples that retention has evicted since the DAC started.",
    );
    out.sample(removed, &[], &counters.removed_samples.to_string(), None);
    let implausible =
        ("oasis_archive_samples_implausible", Kind::Counter, "Samples stored with an implausible time.");
    out.sample(implausible, &[], &counters.implausible.to_string(), None);
    let head = ("oasis_archive_warning", Kind::Gauge, "1 for each warning: samples may be evicted early.");
    for warning in &counters.warnings {
        out.sample(head, &[("rule", &warning.instances), ("code", warning.code)], "1", None);
    }
}

/// Returns instances, without those replaced by another type under the same name: a series must not appear twice.
fn present(dac: &Dac) -> impl Iterator<Item = Arc<Instance>> {
    dac.registry.instances().into_iter().filter(|instance| !instance.is_retired())
}

/// Received and missing samples of an instance, by cause.
fn ledger(instance: &Instance, out: &mut Exposition) {
    let (received, causes) = {
        let ledger = instance.ledger();
        (ledger.received, ledger.causes.clone())
    };
    let labels = [("node", &*instance.node), ("instance", &*instance.name)];
    let head = ("oasis_dac_samples_received", Kind::Counter, "Samples received since the DAC started.");
    out.sample(head, &labels, &received.to_string(), None);
    let head = ("oasis_dac_samples_missing", Kind::Counter, "Samples lost since the DAC started, by cause.");
    for (cause, count) in causes {
        let [node, name] = labels;
        out.sample(head, &[node, name, ("cause", cause.word())], &count.to_string(), None);
    }
}

/// The newest values of the instances that match a pattern and whose node is connected.
pub fn newest_values(dac: &Dac, patterns: &[String], out: &mut Exposition) {
    let online: BTreeMap<_, _> = dac
        .registry
        .nodes()
        .into_iter()
        .filter(|node| node.is_online())
        .map(|node| (node.identity.name.clone(), ()))
        .collect();
    let mut families: Option<Families> = None;
    for instance in present(dac) {
        let name = format!("{}/{}", instance.node, instance.name);
        let is_wanted = patterns.iter().any(|pattern| matches(pattern, &name));
        if !is_wanted || !online.contains_key(&*instance.node) {
            continue;
        }
        // Instances of one type often follow one another.
        let known = families.take().filter(|known| ptr::eq(known.probe_type(), &*instance.probe_type));
        let of_type = families.insert(known.unwrap_or_else(|| Families::new(&instance.probe_type)));
        newest_of(&instance, of_type, out);
    }
}

fn newest_of(instance: &Instance, families: &Families, out: &mut Exposition) {
    let Some(segment) = instance.log.latest() else { return };
    // A batch with invalid columns has no newest sample; only its header was checked before.
    let Ok(batch) = Batch::parse(segment.batch(), &instance.probe_type) else { return };
    let Some(sample) = batch.samples().next_back() else { return };
    let labels = [("node", &*instance.node), ("instance", &*instance.name)];
    let mut served = BTreeSet::new();
    for (family, cell) in families.columns(&sample.values) {
        let Some(value) = number(&cell) else { continue };
        if served.insert(&family.name) {
            out.sample((&family.name, family.kind, &family.help), &labels, &value, Some(sample.time));
        } else {
            // Prometheus refuses an answer that has a series twice.
            out.leave_out_duplicate();
        }
    }
}

/// Returns a number; `None` for strings and vectors.
fn number(cell: &Cell<'_>) -> Option<String> {
    let real = |value: f64, shown: String| match value {
        value if value.is_nan() => "NaN".into(),
        value if value.is_infinite() => if value > 0.0 { "+Inf" } else { "-Inf" }.into(),
        _ => shown,
    };
    match cell {
        Cell::Int(value) => Some(value.to_string()),
        Cell::Uint(value) => Some(value.to_string()),
        Cell::Real32(value) => Some(real((*value).into(), value.to_string())),
        Cell::Real64(value) => Some(real(*value, value.to_string())),
        Cell::Boolean(value) => Some(u8::from(*value).to_string()),
        Cell::Nothing | Cell::Text(_) | Cell::Blob(_) => None,
    }
}
