//! Remote write, from Debian's Prometheus.

use crate::harness::{Oasis, eventually, eventually_shown, get, has_program, instance, oasis, own_address};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tempfile::TempDir;

fn dac(folder: &Path, more: &str) -> Oasis {
    let config = folder.join("oasis.toml");
    let others = "[rules]\nenabled = false\n\n[doors]\nrate_limit = 0\n";
    fs::write(&config, format!("[prometheus]\nenabled = true\n{more}\n{others}")).unwrap();
    let archive = folder.join("archive");
    Oasis::dac(&["--config", config.to_str().unwrap(), "--archive", archive.to_str().unwrap()])
}

/// An exporter whose only metric counts its scrapes.
struct Exporter {
    address: String,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = is_over.clone();
        let thread = thread::spawn(move || {
            let mut scrapes = 0;
            for stream in listener.incoming() {
                if seen.load(Ordering::Relaxed) {
                    break;
                }
                scrapes += 1;
                // Prometheus may have given up.
                let _ = answer(stream.unwrap(), scrapes);
            }
        });
        Self { address, is_over, thread: Some(thread) }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread, which closes the port.
        let _ = TcpStream::connect(&self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn answer(mut stream: TcpStream, scrapes: u64) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    let body = format!("scrapes_total {scrapes}\nodd_value{{of=\"a,b=c\"}} +Inf\n");
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Prometheus, which scrapes an exporter five times a second.
struct Prometheus {
    child: Child,
    address: String,
    _folder: TempDir,
}

impl Prometheus {
    fn start(dac: &Oasis, exporter: &Exporter) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self::start_at(&free, dac, exporter, "")
    }

    /// Starts it at an address, with further jobs of scrapes.
    fn start_at(free: &str, dac: &Oasis, exporter: &Exporter, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("prometheus.yml");
        fs::write(
            &config,
            format!(
                "global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}\n\
                 scrape_configs: [{{job_name: plant, static_configs: [{{targets: ['{}']}}]}}{more}]\n\
                 remote_write: [{{url: '{}/api/v1/write', queue_config: {{batch_send_deadline: 200ms}}}}]\n",
                exporter.address,
                dac.http()
            ),
        )
        .unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={free}"))
            .arg("--web.enable-remote-write-receiver")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, address: free.to_owned(), _folder: folder }
    }

    /// All samples of a series as times in milliseconds and values in words.
    fn samples(&self, series: &str) -> Vec<(u64, String)> {
        let agent = ureq::Agent::new_with_defaults();
        let url = format!("http://{}/api/v1/query", self.address);
        let mut answer = agent.get(&url).query("query", format!("{series}[1h]")).call().unwrap();
        let answer: Value = answer.body_mut().read_json().unwrap();
        let values = answer["data"]["result"][0]["values"].as_array().cloned().unwrap_or_default();
        let sample = |pair: &Value| {
            let milliseconds = (pair[0].as_f64().unwrap() * 1_000.0).round() as u64;
            (milliseconds, pair[1].as_str().unwrap().to_owned())
        };
        values.iter().map(sample).collect()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All samples that the DAC has of an instance, as Prometheus writes them; without the marker of an ended series.
fn received(dac: &Oasis, node: &str, instance: &str) -> Vec<(u64, String)> {
    let instance = instance.replace('\\', "%5C").replace(',', "%2C").replace('=', "%3D");
    let path = format!("/api/v1/samples?node={node}&instance={instance}&from=earliest");
    let document = get(dac, &path);
    let messages = document["messages"].as_array().cloned().unwrap_or_default();
    let samples = messages.iter().filter_map(|message| message["samples"].as_array()).flatten();
    let shown = |value: &Value| match value.as_f64() {
        Some(number) => number.to_string(),
        None => value.as_str().unwrap_or("NaN").to_owned(),
    };
    let sample =
        |sample: &Value| (sample["time"].as_u64().unwrap() / 1_000_000, shown(&sample["metrics"]["value"]));
    samples.map(sample).filter(|(_, value)| value != "NaN").collect()
}

#[test]
fn each_sample_of_prometheus_is_there_and_a_target_that_is_gone_is_offline() {
    if !has_program("prometheus", "prometheus") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), "");
    let exporter = Exporter::start();
    let node = format!("prometheus-{}", exporter.address);
    let prometheus = Prometheus::start(&dac, &exporter);
    let series = "scrapes_total,job=plant";
    eventually("ten samples", || {
        instance(&dac, &node, series)
            .is_some_and(|one| one["ledger"]["received"].as_u64() > Some(10))
            .then_some(())
    });
    let before = received(&dac, &node, series);
    let expected = prometheus.samples("scrapes_total");
    assert!(before.len() > 10);
    assert_eq!(before[..], expected[..before.len()]);
    let infinite = received(&dac, &node, "odd_value,job=plant,of=a\\,b\\=c");
    assert!(infinite.iter().all(|(_, value)| value.contains("Inf") || value.contains("inf")), "{infinite:?}");

    drop(exporter);
    eventually_shown("the series have ended", || {
        let one = instance(&dac, &node, series).unwrap_or_default();
        if one["state"] == "offline" { Ok(()) } else { Err(json!([one["state"], one["ledger"]["received"]])) }
    });
    assert_eq!(received(&dac, &node, series), prometheus.samples("scrapes_total"));
}

/// Starts a DAC that sends to Prometheus, and takes what Prometheus has: from remote write, and from scrapes of the DAC itself.
#[test]
fn a_loop_through_prometheus_makes_no_new_instances_and_is_counted() {
    if !has_program("prometheus", "prometheus") {
        return;
    }
    let (folder, exporter) = (tempfile::tempdir().unwrap(), Exporter::start());
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let dac = dac(folder.path(), &format!("[remote_write]\nurl = 'http://{free}/api/v1/write'\n"));
    let address = dac.http().trim_start_matches("http://").to_owned();
    let second = format!(", {{job_name: oasis, static_configs: [{{targets: ['{address}']}}]}}");
    let prometheus = Prometheus::start_at(&free, &dac, &exporter, &second);
    let state = |name: &str| -> Value {
        let all = get(&dac, "/api/v1/handlers");
        let mut all = all["handlers"].as_array().cloned().unwrap_or_default().into_iter();
        all.find(|one| one["name"] == name).unwrap_or_default()["state"].clone()
    };
    // Samples come back by both ways, for many rounds of one second.
    eventually("samples that come back", || {
        (state("prometheus")["looped_samples"].as_u64() > Some(500)).then_some(())
    });
    let written = prometheus.samples("scrapes_total_value");
    assert!(!written.is_empty(), "Prometheus has what the DAC has sent");
    let all = get(&dac, "/api/v1/instances");
    let nodes: BTreeSet<&str> =
        all["instances"].as_array().unwrap().iter().map(|one| one["node"].as_str().unwrap()).collect();
    let (of_exporter, of_dac) = (format!("prometheus-{}", exporter.address), format!("prometheus-{address}"));
    assert!(nodes.contains(&*of_exporter) && nodes.contains(&*of_dac), "{nodes:?}");
    assert!(nodes.is_subset(&BTreeSet::from(["prometheus", &of_exporter, &of_dac])), "{nodes:?}");
    let output = oasis().args(["handlers", "--url", dac.http()]).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("samples left out of instances that this DAC has itself"), "{table}");
}

#[test]
fn a_dac_that_scrapes_itself_takes_its_counters_alone_and_another_one_takes_all() {
    let (folder, listen) = (tempfile::tempdir().unwrap(), own_address());
    let config = folder.path().join("oasis.toml");
    let scrape = format!("scrape = ['http://{listen}/metrics']\nscrape_interval = 0.1\n");
    fs::write(&config, format!("[prometheus]\nenabled = true\n{scrape}\n[doors]\nrate_limit = 0\n")).unwrap();
    let first = Oasis::dac_at(&listen, &own_address(), &["--config", config.to_str().unwrap()]);
    let node = format!("prometheus-{listen}");
    let names = |dac: &Oasis| -> BTreeSet<String> {
        let all = get(dac, "/api/v1/instances")["instances"].as_array().unwrap().clone();
        let name =
            |one: &Value| format!("{}/{}", one["node"].as_str().unwrap(), one["instance"].as_str().unwrap());
        all.iter().map(name).collect()
    };
    let state = |dac: &Oasis| {
        let all = get(dac, "/api/v1/handlers")["handlers"].as_array().unwrap().clone();
        all.into_iter().find(|one| one["name"] == "prometheus").unwrap()["state"].clone()
    };
    // A hundred instances in ten scrapes: a loop would double them with each.
    eventually("samples that come back", || {
        (state(&first)["looped_samples"].as_u64() > Some(1_000)).then_some(())
    });
    let all = names(&first);
    assert!(all.contains(&format!("{node}/oasis_dac_nodes_online")), "{all:?}");
    assert!(!all.iter().any(|name| name.contains("node=")), "{all:?}");

    let other = tempfile::tempdir().unwrap();
    let second = dac(other.path(), &format!("node_prefix = 'second'\n{scrape}"));
    let series = format!("exported_instance=oasis_dac_nodes_online,node={node}");
    let is_taken = || names(&second).iter().any(|name| name.ends_with(&series)).then_some(());
    eventually("the ledger of the first DAC", is_taken);
}

#[test]
fn an_exporter_is_read_without_prometheus() {
    let folder = tempfile::tempdir().unwrap();
    let exporter = Exporter::start();
    let url = format!("http://{}/metrics", exporter.address);
    let dac = dac(folder.path(), &format!("scrape = ['{url}']\nscrape_interval = 0.1\n"));
    let node = format!("prometheus-{}", exporter.address);
    eventually("ten samples", || {
        instance(&dac, &node, "scrapes_total")
            .is_some_and(|one| one["ledger"]["received"].as_u64() > Some(10))
            .then_some(())
    });
    let values = received(&dac, &node, "scrapes_total");
    let numbers: Vec<f64> = values.iter().map(|(_, value)| value.parse().unwrap()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "each scrape is there once: {numbers:?}");
    // One that took longer than the interval has failed.
    let handlers = get(&dac, "/api/v1/handlers")["handlers"].as_array().unwrap().clone();
    let source = handlers.iter().find(|one| one["name"] == "prometheus").unwrap();
    let failed = source["state"]["failed_scrapes"].as_u64().unwrap();
    assert!(numbers.last() <= Some(&((numbers.len() as u64 + failed) as f64)), "{numbers:?} {failed}");
    assert!(!received(&dac, &node, "odd_value,of=a\\,b\\=c").is_empty());

    drop(exporter);
    eventually_shown("the exporter is offline", || {
        let one = instance(&dac, &node, "scrapes_total").unwrap_or_default();
        if one["state"] == "offline" { Ok(()) } else { Err(one["state"].clone()) }
    });
    let up = format!("up,instance={}", node.trim_start_matches("prometheus-"));
    eventually("it is not up", || (received(&dac, "prometheus", &up).last()?.1 == "0").then_some(()));
}

#[test]
fn a_target_that_fails_is_logged_once_and_is_a_warning_of_the_handler() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let works = Arc::new(AtomicBool::new(false));
    let target = works.clone();
    // Ends with the process of the test.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A connection that is closed at once is a scrape that fails.
            let _ = if target.load(Ordering::SeqCst) { answer(stream, 1) } else { Ok(()) };
        }
    });
    let (config, log) = (folder.path().join("oasis.toml"), folder.path().join("log"));
    let section = format!(
        "[prometheus]\nenabled = true\nscrape_interval = 0.5\nscrape = ['http://{address}/m?token=hush']\n"
    );
    fs::write(&config, section).unwrap();
    let mut command = oasis();
    command.env("OASIS_LOG", "warn");
    let file = fs::File::create(&log).unwrap();
    let dac = Oasis::dac_started_by(command, file, &["--config", config.to_str().unwrap()]);
    eventually("failed scrapes", || {
        let all = get(&dac, "/api/v1/handlers");
        let mut all = all["handlers"].as_array()?.iter();
        let handler = all.find(|one| one["name"] == "prometheus")?;
        (handler["state"]["failed_scrapes"].as_u64() > Some(3)).then_some(())
    });
    let output = oasis().args(["handlers", "--url", dac.http()]).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("prometheus          running, 1 warning\n  "), "{table}");
    let lines = |text: &str| fs::read_to_string(&log).unwrap().matches(text).count();
    assert_eq!(lines("a scrape fails (prometheus.scrape)"), 1);
    works.store(true, Ordering::SeqCst);
    eventually("the log has the end", || (lines("scrapes of the target work again") > 0).then_some(()));
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains(&format!("http://{address}/m")) && !log.contains("hush"), "{log}");
}

#[test]
fn protocol_buffers_of_an_exporter_have_the_series_of_its_text() {
    if !has_program("prometheus", "prometheus") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (target, exporter) = (dac(folder.path(), ""), Exporter::start());
    let prometheus = Prometheus::start(&target, &exporter);
    let url = format!("http://{}/metrics", prometheus.address);
    let ready = || ureq::get(&url).call().ok().map(|_| ());
    eventually("Prometheus answers", ready);
    let node = format!("prometheus-{}", prometheus.address);
    let series = |more: &str| -> BTreeSet<String> {
        let folder = tempfile::tempdir().unwrap();
        let dac = dac(folder.path(), &format!("scrape = ['{url}']\nscrape_interval = 0.5\n{more}"));
        // The last series of a scrape, twice: all of the first one is registered then.
        let last = format!("scrape_samples_scraped,instance={}", prometheus.address);
        eventually("two scrapes", || {
            let received = &instance(&dac, "prometheus", &last)?["ledger"]["received"];
            (received.as_u64() >= Some(2)).then_some(())
        });
        let all = get(&dac, "/api/v1/instances?limit=1000");
        let names = all["instances"].as_array().unwrap().iter().filter(|one| one["node"] == node.as_str());
        names.map(|one| one["instance"].as_str().unwrap().to_owned()).collect()
    };
    let (text, protobuf) = (series(""), series("scrape_native_histograms = true\n"));
    // Others come while Prometheus runs.
    let is_stable =
        |name: &&String| ["go_", "process_", "prometheus_tsdb_"].iter().any(|begin| name.starts_with(begin));
    let stable = |all: &BTreeSet<String>| all.iter().filter(is_stable).cloned().collect::<Vec<_>>();
    assert!(stable(&text).len() > 50, "{}: {text:?}", stable(&text).len());
    assert_eq!(stable(&protobuf), stable(&text));
    assert!(stable(&text).iter().any(|name| name.contains("le=+Inf")), "{text:?}");
}
