//! Reads exporters at intervals, as Prometheus does: each target has a thread.

use crate::{
    config::target_address,
    exposition::parse_line,
    loops::EXPORTED,
    message::{Point, Series},
    metric_family::{ExposedValue, each_sample},
    native_histogram::NativeHistogram,
    presence::STALE,
    source::RemoteWriteSource,
    target_log::TargetLog,
};
use oasis_dac::now;
use oasis_handler::Stopping;
use oasis_http_client::{Client, ClientConfig, logged_url};
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
/// Most characters of a line in a warning.
const MAX_QUOTED_CHARACTERS: usize = 120;
const ACCEPT: &str = "text/plain; version=0.0.4";
const PROTOBUF: &str = "application/vnd.google.protobuf";
const ACCEPT_PROTOBUF: &str = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;version=0.0.4;q=0.5";

/// Labels of a series, sorted by name.
pub type Labels = Vec<(String, String)>;

/// A target, and its series at the last scrape.
struct Target {
    url: String,
    /// `HOST:PORT`.
    instance: String,
    client: Result<Client, String>,
    accept: &'static str,
    series: BTreeSet<Labels>,
    log: TargetLog,
}

/// The samples of a scrape.
#[derive(Debug, Default)]
struct Scraped {
    samples: Vec<(Labels, Point)>,
    histograms: Vec<ScrapedHistogram>,
    present: BTreeSet<Labels>,
    /// Lines and metrics that are no samples, or too many.
    refused: u64,
    /// The first of them, with the reason.
    refusal: Option<String>,
}

/// A native histogram.
#[derive(Debug)]
pub struct ScrapedHistogram {
    pub labels: Labels,
    /// Milliseconds since 1970.
    pub time: i64,
    pub histogram: NativeHistogram,
}

/// Reads all targets until the handler has to stop.
pub fn run(source: &RemoteWriteSource, urls: &[String], interval: Duration, stopping: &Stopping) {
    let accept = if source.config().scrape_native_histograms { ACCEPT_PROTOBUF } else { ACCEPT };
    thread::scope(|scope| {
        for url in urls {
            let mut target = Target::new(url, interval, accept);
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
    fn new(url: &str, interval: Duration, accept: &'static str) -> Self {
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
            accept,
            series: BTreeSet::new(),
            log: TargetLog::default(),
        }
    }

    /// Reads the target once, and pushes its samples and those of the scrape.
    fn scrape(&mut self, source: &RemoteWriteSource) {
        let (began, time) = (Instant::now(), milliseconds());
        let read = self.read(time);
        let is_up = read.is_ok();
        let failure = read.as_ref().err().map(|why| format!("{}: {why}", logged_url(&self.url)));
        if let Some(changes) = self.log.note(!is_up, began) {
            self.log(read.as_ref().err(), changes);
        }
        let Scraped { mut samples, histograms, present, refused, refusal } = read.unwrap_or_default();
        let refusal = refusal.map(|why| format!("{}: {why}", logged_url(&self.url)));
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
        source.push_scrape(series, &histograms, (refused, refusal), failure);
    }

    /// Logs that the target fails, or works again, with the number of changes since the last line.
    fn log(&self, failure: Option<&String>, changes: u64) {
        let url = logged_url(&self.url);
        match failure {
            Some(detail) => tracing::warn!(
                url,
                detail,
                changes,
                "a scrape fails (prometheus.scrape): trying at each interval"
            ),
            None => tracing::warn!(url, changes, "scrapes of the target work again"),
        }
    }

    /// Reads the target. `time` is that of samples without one.
    fn read(&self, time: i64) -> Result<Scraped, String> {
        let client = self.client.as_ref().map_err(Clone::clone)?;
        let answer = client.get_bytes(&self.url, &[("accept", self.accept)]);
        let (content_type, bytes) = answer.map_err(|error| error.to_string())?;
        let mut scraped = Scraped::default();
        if content_type.starts_with(PROTOBUF) {
            let refused = each_sample(&bytes, &mut |name, labels, value, at| {
                let (labels, time) = (self.labels(name, labels), at.unwrap_or(time));
                match value {
                    ExposedValue::Number(value) => scraped.add(labels, Point { value, time }),
                    ExposedValue::Histogram(histogram) => scraped.add_histogram(labels, time, histogram),
                }
            });
            scraped.refused += refused.map_err(|error| error.to_string())?;
            return Ok(scraped);
        }
        for line in String::from_utf8_lossy(&bytes).lines() {
            match parse_line(line) {
                Ok(None) => {}
                Ok(Some(sample)) => {
                    let point = Point { value: sample.value, time: sample.time.unwrap_or(time) };
                    scraped.add(self.labels(sample.name, &sample.labels), point);
                }
                Err(why) => scraped.refuse(line, why),
            }
        }
        Ok(scraped)
    }

    /// Returns the labels with those of the target. A label `instance` of the exporter is called `exported_instance`, as Prometheus does,
    /// with another `exported_` in front if the exporter has that one too.
    fn labels(&self, metric: &str, of_sample: &[(&str, Cow<'_, str>)]) -> Labels {
        let mut labels =
            vec![("__name__".to_owned(), metric.to_owned()), ("instance".to_owned(), self.instance.clone())];
        for (name, value) in of_sample {
            let mut name = (*name).to_owned();
            if name == "instance" {
                while name == "instance" || of_sample.iter().any(|(other, _)| *other == name) {
                    name.insert_str(0, EXPORTED);
                }
            }
            labels.push((name, value.clone().into_owned()));
        }
        labels.sort_unstable();
        labels
    }
}

impl Scraped {
    /// Counts a line or a metric that is no sample; the first one is named.
    fn refuse(&mut self, text: &str, why: &str) {
        self.refused += 1;
        self.refusal.get_or_insert_with(|| {
            let text: String = text.chars().take(MAX_QUOTED_CHARACTERS).collect();
            format!("{text:?}: {why}")
        });
    }

    fn refuse_label(&mut self, labels: &Labels) {
        let metric = labels.iter().find(|(name, _)| name == "__name__").map_or("", |(_, metric)| metric);
        self.refuse(metric, "the scrape has more than 100,000 samples");
    }

    fn add(&mut self, labels: Labels, point: Point) {
        if self.samples.len() + self.histograms.len() == MAX_SAMPLES {
            return self.refuse_label(&labels);
        }
        self.present.insert(labels.clone());
        self.samples.push((labels, point));
    }

    fn add_histogram(&mut self, labels: Labels, time: i64, histogram: &NativeHistogram) {
        if self.samples.len() + self.histograms.len() == MAX_SAMPLES {
            return self.refuse_label(&labels);
        }
        self.histograms.push(ScrapedHistogram { labels, time, histogram: histogram.clone() });
    }
}

fn milliseconds() -> i64 {
    i64::try_from(now().0 / 1_000_000).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PrometheusConfig;
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };

    #[test]
    fn labels_of_the_exporter_never_coincide_with_those_of_the_target() {
        let target = Target::new("http://a:1/metrics", MAX_SCRAPE_TIMEOUT, ACCEPT);
        let of_sample = [("exported_instance", "c".into()), ("instance", "b".into())];
        let labels = target.labels("up", &of_sample);
        let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (&**name, &**value)).collect();
        let expected = [
            ("__name__", "up"),
            ("exported_exported_instance", "b"),
            ("exported_instance", "c"),
            ("instance", "a:1"),
        ];
        assert_eq!(labels, expected);
    }

    #[test]
    fn a_target_fails_until_a_scrape_works() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/metrics?token=hush", listener.local_addr().unwrap());
        let source = RemoteWriteSource::new(PrometheusConfig::default());
        let mut target = Target::new(&url, MAX_SCRAPE_TIMEOUT, ACCEPT);
        let answers = [("500 Internal Server Error", true), ("200 OK", false), ("404 Not Found", true)];
        thread::scope(|scope| {
            scope.spawn(|| {
                for (status, _) in answers {
                    let (mut stream, _) = listener.accept().unwrap();
                    assert!(stream.read(&mut [0; 4_096]).unwrap() > 0);
                    let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                    stream.write_all(head.as_bytes()).unwrap();
                }
            });
            for (status, fails) in answers {
                target.scrape(&source);
                assert_eq!(target.log.is_failing(), fails, "{status}");
            }
        });
    }
}
