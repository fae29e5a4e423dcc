//! What comes of a cell.

use super::{
    super::monitor::Watched,
    daemon::INSTANCES,
    pages::{PageReport, Shown},
    settings::{Settings, Test},
};
use crate::{experiment::Measured, overhead::Traffic, statistics::Sample};

/// What was seen.
#[derive(Debug)]
pub struct Observed {
    /// What the page said at the end.
    pub page: PageReport,
    /// Samples of each instance.
    pub sent: Vec<u64>,
    /// The tab's memory in bytes, by seconds.
    pub memory: Vec<(f64, u64)>,
    /// Bytes on the wire, if they could be captured.
    pub traffic: Option<Traffic>,
    /// The server.
    pub watched: Vec<Watched>,
    /// How long it took.
    pub seconds: f64,
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
    }
    let (sent, received) = (observed.sent.iter().sum::<u64>(), observed.page.received());
    put("sent", sent as f64);
    put("received", received as f64);
    put("lag_percent", lag(sent, received));
    put("received_per_second", received as f64 / observed.seconds.max(1e-3));
    let seconds = observed.watched.len().max(1) as f64;
    put("server_cpu_percent", observed.watched.iter().map(|second| second.server_cpu).sum::<f64>() / seconds);
    if settings.test == Test::Age {
        let ages: Vec<f64> =
            observed.page.instances.iter().flat_map(|Shown { ages, .. }| ages).copied().collect();
        let Sample { mean, deviation, count } = Sample::of(&ages);
        put("age_mean_ms", mean);
        put("age_sd_ms", deviation);
        put("ages", count as f64);
    }
    if let Some(traffic) = observed.traffic {
        let bytes = (traffic.sent.bytes + traffic.received.bytes) as f64;
        put("wire_bytes", bytes);
        put("wire_packets", (traffic.sent.packets + traffic.received.packets) as f64);
        put("stream_bytes", (traffic.sent.payload + traffic.received.payload) as f64);
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

/// The tab's memory over time, and its growth from the second quarter to the last: the first one is the page's start.
fn add_memory(measured: &mut Measured, memory: &[(f64, u64)]) {
    if memory.len() < 4 {
        return;
    }
    let mebibytes = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
    let quarter = memory.len() / 4;
    let mean = |part: &[(f64, u64)]| {
        part.iter().map(|(_, bytes)| mebibytes(*bytes)).sum::<f64>() / part.len().max(1) as f64
    };
    let (early, late) = (mean(&memory[quarter..2 * quarter]), mean(&memory[memory.len() - quarter..]));
    let series = memory.iter().map(|(at, bytes)| (*at, mebibytes(*bytes))).collect();
    measured.series.insert("tab_memory_mib".into(), series);
    measured.measures.insert("tab_memory_mib".into(), late);
    measured.measures.insert("tab_memory_growth_percent".into(), (late / early - 1.0) * 100.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_what_has_not_arrived() {
        assert_eq!((lag(0, 0), lag(200, 200), lag(200, 50), lag(200, 201)), (0.0, 0.0, 75.0, 0.0));
    }

    #[test]
    fn growth_is_from_the_second_quarter_to_the_last() {
        let mut measured = Measured::default();
        let memory: Vec<_> = (0..8_u32).map(|at| (f64::from(at), u64::from(at + 1) * 1024 * 1024)).collect();
        add_memory(&mut measured, &memory);
        assert_eq!(measured.measures["tab_memory_mib"], 7.5);
        assert!((measured.measures["tab_memory_growth_percent"] - 114.285).abs() < 0.01);
    }
}
