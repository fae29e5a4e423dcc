//! Reads exporters at intervals, as Prometheus does: each target has a thread.

use crate::{
    config::target_address,
    exposition::parse_line,
    message::{Point, Series},
    presence::STALE,
    source::RemoteWriteSource,
};
use oasis_dac::now;
use oasis_handler::Stopping;
use oasis_http_client::{Client, ClientConfig};
use oasis_source_node::MAX_BODY_BYTES;
use std::{
    borrow::Cow,
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

/// Longest time until a target has answered.
const MAX_SCRAPE_TIMEOUT: Duration = Duration::from_secs(10);
/// Most samples of a scrape.
const MAX_SAMPLES: usize = 100_000;
const ACCEPT: &str = "text/plain; version=0.0.4";

/// Labels of a series, sorted by name.
type Labels = Vec<(String, String)>;

/// A target, and its series at the last scrape.
struct Target {
    url: String,
    /// `HOST:PORT`.
    instance: String,
    client: Result<Client, String>,
    series: BTreeSet<Labels>,
}

/// Reads all targets until the handler has to stop.
pub fn run(source: &RemoteWriteSource, urls: &[String], interval: Duration, stopping: &Stopping) {
    thread::scope(|scope| {
        for url in urls {
            let mut target = Target::new(url, interval);
            let scrapes = move || {
                let mut next = Instant::now();
                loop {
                    target.scrape(source);
                    // A scrape that is missed is not caught up.
                    next = (next + interval).max(Instant::now());
                    if stopping.wait_for(next.saturating_duration_since(Instant::now())) {
                        return;
                    }
                }
            };
            // The name of a thread has 15 bytes on Linux.
            if let Err(error) = thread::Builder::new().name("scrape".into()).spawn_scoped(scope, scrapes) {
                tracing::error!(url, %error, "no thread for a scrape target: it is not read");
            }
        }
    });
}

impl Target {
    fn new(url: &str, interval: Duration) -> Self {
        let client = Client::new(ClientConfig {
            is_encrypted: url.starts_with("https://"),
            timeout: interval.min(MAX_SCRAPE_TIMEOUT),
            max_answer_bytes: MAX_BODY_BYTES as u64,
            ..ClientConfig::default()
        });
        let client = client.map_err(|error| error.to_string());
        Self {
            url: url.to_owned(),
            instance: target_address(url).to_owned(),
            client,
            series: BTreeSet::new(),
        }
    }

    /// Reads the target once, and pushes its samples and those of the scrape.
    fn scrape(&mut self, source: &RemoteWriteSource) {
        let (began, time) = (Instant::now(), milliseconds());
        let read = self.read();
        let is_up = read.is_ok();
        let mut present = BTreeSet::new();
        let (mut samples, mut refused) = (Vec::new(), 0);
        for line in read.as_deref().unwrap_or_default().lines() {
            match parse_line(line) {
                Ok(None) => {}
                Ok(Some(sample)) if samples.len() < MAX_SAMPLES => {
                    let point = Point { value: sample.value, time: sample.time.unwrap_or(time) };
                    let labels = self.labels(sample.name, &sample.labels);
                    present.insert(labels.clone());
                    samples.push((labels, point));
                }
                Ok(Some(_)) | Err(_) => refused += 1,
            }
        }
        let ended = self.series.difference(&present).cloned();
        samples.extend(ended.map(|labels| (labels, Point { value: f64::from_bits(STALE), time })));
        let count = present.len() as f64;
        let of_scrape = [
            ("up", f64::from(u8::from(is_up))),
            ("scrape_duration_seconds", began.elapsed().as_secs_f64()),
            ("scrape_samples_scraped", count),
        ];
        samples.extend(of_scrape.map(|(name, value)| (self.labels(name, &[]), Point { value, time })));
        self.series = present;
        let series = samples.iter().map(|(labels, point)| Series {
            labels: labels.iter().map(|(name, value)| (&**name, &**value)).collect(),
            points: vec![*point],
            ..Series::default()
        });
        source.push_scrape(series, refused, read.err().map(|why| format!("{}: {why}", self.url)));
    }

    fn read(&self) -> Result<String, String> {
        let client = self.client.as_ref().map_err(Clone::clone)?;
        client.get(&self.url, &[("accept", ACCEPT)]).map_err(|error| error.to_string())
    }

    /// Returns the labels with those of the target. A label `instance` of the exporter is called `exported_instance`, as Prometheus does.
    fn labels(&self, metric: &str, of_sample: &[(&str, Cow<'_, str>)]) -> Labels {
        let mut labels =
            vec![("__name__".to_owned(), metric.to_owned()), ("instance".to_owned(), self.instance.clone())];
        for (name, value) in of_sample {
            let name = if *name == "instance" { "exported_instance" } else { name };
            labels.push((name.to_owned(), value.clone().into_owned()));
        }
        labels.sort_unstable();
        labels
    }
}

fn milliseconds() -> i64 {
    i64::try_from(now().0 / 1_000_000).unwrap_or(i64::MAX)
}
