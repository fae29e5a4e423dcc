//! Summary of a cell.

use super::{
    super::{browser::TabMemory, monitor::Watched, relay::Delays},
    arrival,
    daemon::INSTANCES,
    pages::{InstanceReport, PageReport},
    settings::{Settings, Test},
};
use crate::{
    experiment::Measured,
    overhead::Traffic,
    statistics::{Sample, slope},
};

const MEBIBYTE: f64 = 1024.0 * 1024.0;

/// Observations of a cell.
#[derive(Debug)]
pub struct Observed {
    /// Last report of the page.
    pub page: PageReport,
    /// Samples of all instances that the page received, also after the end.
    pub in_the_end: u64,
    /// Samples of each instance.
    pub sent: Vec<u64>,
    /// The tab's memory over time.
    pub memory: Vec<MemoryReading>,
    /// Bytes on the wire, if they could be captured.
    pub traffic: Option<Traffic>,
    /// Delays of the way between page and door.
    pub delays: Delays,
    /// The server.
    pub watched: Vec<Watched>,
    /// Duration in seconds.
    pub seconds: f64,
}

/// The memory of the tab at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryReading {
    /// Seconds since the beginning.
    pub at: f64,
    /// Samples that the page had received.
    pub samples: u64,
    /// Memory of the tab's processes, bytes.
    pub tab: TabMemory,
    /// Heap of the tab's scripts, bytes, if the browser reports it.
    pub heap: Option<u64>,
    /// Characters of responses that the page holds.
    pub held: u64,
}

impl PageReport {
    /// Samples of all instances.
    pub fn received(&self) -> u64 {
        self.instances.iter().map(|instance| instance.received).sum()
    }
}

/// The measures of a cell.
pub fn measured(settings: &Settings, observed: &Observed) -> Measured {
    let mut measured = Measured::default();
    let mut put = |name: &str, value: f64| {
        measured.measures.insert(name.into(), value);
    };
    for ((probe, name), sent) in INSTANCES.iter().zip(&observed.sent) {
        let shown = observed.page.instances.iter().find(|shown| shown.name == *name);
        let received = shown.map_or(0, |shown| shown.received);
        put(&format!("sent_{probe}"), *sent as f64);
        put(&format!("received_{probe}"), received as f64);
        put(&format!("lag_{probe}_percent"), lag(*sent, received));
        if let Some(InstanceReport { messages: messages @ 1.., bytes, .. }) = shown {
            put(&format!("message_bytes_{probe}"), *bytes as f64 / *messages as f64);
        }
    }
    if let Some([sum, mean]) = message_bytes(&observed.page.instances) {
        put("message_bytes_both", sum);
        put("message_bytes_a_sample", mean);
    }
    let (sent, received) = (observed.sent.iter().sum::<u64>(), observed.page.received());
    put("sent", sent as f64);
    put("received", received as f64);
    put("lag_percent", lag(sent, received));
    put("lost_percent", lag(sent, observed.in_the_end));
    put("sent_per_second", sent as f64 / observed.seconds.max(1e-3));
    put("received_per_second", received as f64 / observed.seconds.max(1e-3));
    let seconds = observed.watched.len().max(1) as f64;
    put("server_cpu_percent", observed.watched.iter().map(|second| second.server_cpu).sum::<f64>() / seconds);
    if settings.test == Test::Age {
        let ages: Vec<f64> =
            observed.page.instances.iter().flat_map(|InstanceReport { ages, .. }| ages).copied().collect();
        let Sample { mean, deviation, count } = Sample::of(&ages);
        put("age_mean_ms", mean);
        put("age_sd_ms", deviation);
        put("ages", count as f64);
        let newest: Vec<f64> = observed
            .page
            .instances
            .iter()
            .flat_map(|InstanceReport { newest, .. }| newest)
            .copied()
            .collect();
        let down = Sample::of(&observed.delays.down).mean;
        put("link_down_ms", down);
        if let (Some(way), Some(hertz), false) = (settings.way(), settings.rate.hertz, newest.is_empty()) {
            let (arrived, expected) = (Sample::of(&newest).mean, arrival::expected(way, hertz, 0.0, down));
            put("arrival_mean_ms", arrived);
            put("arrival_model_ms", expected);
            put("arrival_beyond_model_ms", arrived - expected);
        }
    }
    if let Some(traffic) = observed.traffic {
        let bytes = (traffic.sent.bytes + traffic.received.bytes) as f64;
        put("wire_bytes", bytes);
        put("wire_packets", (traffic.sent.packets + traffic.received.packets) as f64);
        put("stream_bytes", (traffic.sent.payload + traffic.received.payload) as f64);
        if traffic.sent.packets > 0 {
            put("wire_bytes_per_packet", traffic.sent.bytes as f64 / traffic.sent.packets as f64);
        }
        if received > 0 {
            put("wire_bytes_per_sample", bytes / received as f64);
        }
    } else {
        measured.notes.push("packets cannot be captured here: CAP_NET_RAW is missing".into());
    }
    add_memory(&mut measured, &observed.memory);
    measured.notes.push(observed.page.browser.clone());
    measured
}

/// The share of samples that had not arrived, percent: section 5.3.
fn lag(sent: u64, received: u64) -> f64 {
    if sent == 0 { 0.0 } else { (1.0 - received as f64 / sent as f64).max(0.0) * 100.0 }
}

/// The mean bytes of a message of each probe, added up as in tables 5.1 and 5.2; and the bytes of a sample. None unless both probes have messages.
fn message_bytes(instances: &[InstanceReport]) -> Option<[f64; 2]> {
    let samples: u64 = instances.iter().map(|shown| shown.received).sum();
    let bytes: u64 = instances.iter().map(|shown| shown.bytes).sum();
    if samples == 0 || instances.iter().any(|shown| shown.messages == 0) {
        return None;
    }
    let means = instances.iter().map(|shown| shown.bytes as f64 / shown.messages as f64);
    Some([means.sum(), bytes as f64 / samples as f64])
}

/// A size of the tab at each reading.
type SizeOf = fn(&MemoryReading) -> Option<u64>;

/// The sizes of the tab over time, and how they grow: from the second quarter to the last, and by the samples received. The first quarter is the page's start.
fn add_memory(measured: &mut Measured, memory: &[MemoryReading]) {
    let sizes: [(&str, SizeOf); 4] = [
        ("memory", |reading| Some(reading.tab.resident)),
        ("private", |reading| Some(reading.tab.private)),
        ("heap", |reading| reading.heap),
        ("response", |reading| Some(reading.held)),
    ];
    if memory.len() < 4 {
        return;
    }
    let quarter = memory.len() / 4;
    for (name, of) in sizes {
        let Some(bytes) =
            memory.iter().map(|reading| of(reading).map(|bytes| bytes as f64)).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
        let (early, late) = (mean(&bytes[quarter..2 * quarter]), mean(&bytes[memory.len() - quarter..]));
        let series =
            memory.iter().zip(&bytes).map(|(reading, bytes)| (reading.at, bytes / MEBIBYTE)).collect();
        measured.series.insert(format!("tab_{name}_mib"), series);
        measured.measures.insert(format!("tab_{name}_mib"), late / MEBIBYTE);
        if early > 0.0 {
            measured.measures.insert(format!("tab_{name}_growth_percent"), (late / early - 1.0) * 100.0);
        }
        let by_samples: Vec<_> = memory[quarter..]
            .iter()
            .zip(&bytes[quarter..])
            .map(|(reading, bytes)| (reading.samples as f64, *bytes))
            .collect();
        if let Some(slope) = slope(&by_samples) {
            measured.measures.insert(format!("tab_{name}_bytes_per_sample"), slope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_what_has_not_arrived() {
        assert_eq!((lag(0, 0), lag(200, 200), lag(200, 50), lag(200, 201)), (0.0, 0.0, 75.0, 0.0));
    }

    fn shown(name: &str, received: u64, bytes: u64) -> InstanceReport {
        InstanceReport { name: name.into(), received, messages: received, bytes, ..InstanceReport::default() }
    }

    #[test]
    fn the_sizes_of_messages_are_the_publications() {
        // Tables 5.1 and 5.2: 1,186 bytes to 376 are 215.44 % more samples in as many bytes. By packet of each probe it is 253 %.
        let ajax = message_bytes(&[shown("processor", 462, 462 * 453), shown("memory", 859, 859 * 733)]);
        let websocket =
            message_bytes(&[shown("processor", 94_294, 94_294 * 140), shown("memory", 67_344, 67_344 * 236)]);
        let ([sum, mean], [other_sum, other_mean]) = (ajax.expect("messages"), websocket.expect("messages"));
        assert_eq!((sum, other_sum), (1_186.0, 376.0));
        assert!(((mean / other_mean - 1.0) * 100.0 - 252.8).abs() < 0.1, "{mean} and {other_mean}");
        assert_eq!(message_bytes(&[shown("processor", 9, 90), shown("memory", 0, 0)]), None);
    }

    #[test]
    fn growth_is_from_the_second_quarter_to_the_last_and_by_samples() {
        let reading = |at: u32| MemoryReading {
            at: f64::from(at),
            samples: u64::from(at) * 1_000,
            tab: TabMemory { resident: u64::from(at + 1) * 1024 * 1024, private: 1024 },
            heap: (at > 2).then_some(1),
            held: u64::from(at) * 593_000,
        };
        let mut measured = Measured::default();
        add_memory(&mut measured, &(0..8).map(reading).collect::<Vec<_>>());
        let of = |name: &str| measured.measures[name];
        assert_eq!((of("tab_memory_mib"), of("tab_private_growth_percent")), (7.5, 0.0));
        assert!((of("tab_memory_growth_percent") - 114.285).abs() < 0.01);
        assert!((of("tab_response_bytes_per_sample") - 593.0).abs() < 1e-6);
        assert!(!measured.measures.contains_key("tab_heap_mib"), "the browser did not always say");
    }
}
