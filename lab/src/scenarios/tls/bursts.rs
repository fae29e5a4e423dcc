//! Bursts to many subscribers of servers with and without TLS: processor time of a delivery, and memory of a subscriber.

use super::{super::fanout::calm, Guard, Tls};
use crate::{
    certificates::Certificates,
    scenarios::progress,
    station::{AXUM, BARE, Contender, NATIVE, OASIS, Station, TUNGSTENITE},
    statistics::{median, ratios},
    table::{Table, ratio, short, with_spread},
};
use std::time::Duration;

const CONTENDERS: [Contender; 5] = [BARE, AXUM, TUNGSTENITE, OASIS, NATIVE];

/// A server, with or without TLS, and its subscribers.
struct Entry {
    contender: Contender,
    guard: Guard,
    station: Station,
    /// Memory of the server for each subscriber, bytes.
    memory: u64,
    /// Deliveries a second of the server's processor time, for each size of bursts.
    results: Vec<Vec<f64>>,
}

/// Measures, and returns a section of the report.
pub fn measure(tls: &Tls, certificates: &Certificates) -> anyhow::Result<String> {
    let mut entries = Vec::new();
    for contender in CONTENDERS {
        for guard in [Guard::Plain, Guard::Tls] {
            entries.push(Entry::start(contender, guard, tls, certificates)?);
        }
    }
    for repetition in 1..=tls.repetitions {
        progress(format_args!("bursts, repetition {repetition} of {}", tls.repetitions));
        for (index, &burst) in tls.bursts.iter().enumerate() {
            for entry in &mut entries {
                entry.measure(index, burst, tls.length())?;
            }
        }
    }
    Ok(report(tls, &entries))
}

impl Entry {
    fn start(
        contender: Contender,
        guard: Guard,
        tls: &Tls,
        certificates: &Certificates,
    ) -> anyhow::Result<Self> {
        progress(format_args!(
            "starting {}, {}, with {} subscribers",
            contender.name,
            guard.name(),
            tls.subscribers
        ));
        let served = contender.serve_with(None, &guard.flags(certificates)?, |server| {
            guard.entrance(certificates, server.places())
        })?;
        let before = served.server.resident()?;
        let station = Station::over(served, contender.dialect(), tls.subscribers)?;
        let grown = station.served.server.resident()?.saturating_sub(before);
        let memory = grown / tls.subscribers.max(1) as u64;
        Ok(Self { contender, guard, station, memory, results: vec![Vec::new(); tls.bursts.len()] })
    }

    /// Ends with an error if a message is missing.
    fn measure(&mut self, index: usize, burst: usize, length: Duration) -> anyhow::Result<()> {
        let per_cpu = calm(&mut self.station, burst, length)?;
        self.results.get_mut(index).into_iter().for_each(|results| results.push(per_cpu));
        Ok(())
    }

    fn name(&self) -> String {
        format!("{}, {}", self.contender.name, self.guard.name())
    }
}

fn find(entries: &[Entry], contender: Contender, guard: Guard) -> Option<&Entry> {
    entries.iter().find(|entry| entry.contender == contender && entry.guard == guard)
}

fn report(tls: &Tls, entries: &[Entry]) -> String {
    let mut out = format!(
        "## Deliveries with TLS\n\n{} subscribers over loopback, binary messages of 136 bytes (`oasis native`: a native batch of one sample each); \
         subscribers decrypt every record and count every message. TLS 1.3 by rustls with ring, AES-256-GCM and a certificate of `oasis ca` everywhere. \
         Servers run on one core, the load generator on the other. {} measurements of each kind, alternating between servers; median (lowest to highest).\n\n",
        tls.subscribers, tls.repetitions
    );
    for contender in CONTENDERS {
        let encrypted = match contender {
            BARE => "; with TLS, in one record",
            AXUM => "; with TLS on tokio-rustls, as its example `low-level-rustls`",
            TUNGSTENITE => "; with TLS on tokio-rustls",
            _ => "",
        };
        out += &format!("- `{}`: {}{encrypted}.\n", contender.name, contender.what);
    }
    out += "\nDeliveries per second of server CPU time. Each round ends when all subscribers have received it, so none is lost; the next starts 20 ms later. \
            *To plain*: the same server without TLS. Memory is that of the server's process, without buffers of the kernel.\n\n";
    out += &deliveries(tls, entries).to_string();
    out +=
        "\nOASIS with TLS compared with each server with TLS, median ratio of consecutive measurements:\n\n";
    out += &rivals(tls, entries).to_string();
    out
}

fn deliveries(tls: &Tls, entries: &[Entry]) -> Table {
    let mut headings = vec!["server".to_owned()];
    headings.extend(tls.bursts.iter().flat_map(|burst| [format!("burst {burst}"), "to plain".into()]));
    headings.push("bytes a subscriber".into());
    let mut table = Table::new(headings);
    for entry in entries {
        let mut row = vec![entry.name()];
        let plain = find(entries, entry.contender, Guard::Plain);
        for (index, results) in entry.results.iter().enumerate() {
            let plain = plain.and_then(|plain| plain.results.get(index));
            let to_plain = plain.and_then(|plain| median(&ratios(results, plain)));
            row.extend([with_spread(results), ratio(to_plain)]);
        }
        row.push(short(entry.memory as f64));
        table.row(row);
    }
    table
}

fn rivals(tls: &Tls, entries: &[Entry]) -> Table {
    let headings = tls.bursts.iter().map(|burst| format!("burst {burst}"));
    let mut table = Table::new(std::iter::once("ratio".to_owned()).chain(headings));
    let encrypted = |ours: bool| {
        entries.iter().filter(move |entry| entry.guard == Guard::Tls && entry.contender.is_ours() == ours)
    };
    for ours in encrypted(true) {
        for rival in encrypted(false) {
            let name = format!("{} / {}", ours.contender.name, rival.contender.name);
            let pairs = ours.results.iter().zip(&rival.results);
            let cells = pairs.map(|(ours, rival)| ratio(median(&ratios(ours, rival))));
            table.row(std::iter::once(name).chain(cells).collect());
        }
    }
    table
}
