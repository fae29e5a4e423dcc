//! Readers that start and stop anywhere, on a DAC with a real session.

use super::{output::Output, query::Request, reader::Reader};
use crate::{
    Doors, DoorsConfig, ShardChoice,
    coding::Coding,
    test_plant::{Plant, STEP},
};
use axum::http::HeaderMap;
use oasis_archive::Archive;
use oasis_channel::{Drops, frame::Frame};
use oasis_dac::{Config, Dac, now};
use oasis_handler::Supervisor;
use oasis_http::permissions::Caller;
use oasis_wire::{
    batch::{Encoder, Fields},
    schema::ProbeType,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// An archive that stores on request.
fn archive(folder: &std::path::Path, dac: &Arc<Dac>) -> (Arc<Archive>, Supervisor) {
    let config = oasis_store::ArchiveConfig {
        directory: folder.to_str().unwrap().into(),
        commit_ms: 3_600_000,
        segment_bytes: 4_096,
        min_free_bytes: 0,
        ..Default::default()
    };
    let archive = Arc::new(Archive::new(oasis_store::open(config).unwrap()));
    let handlers = Supervisor::new(dac.clone(), None, vec![archive.clone()]);
    handlers.start("archive").unwrap();
    (archive, handlers)
}

/// The content of an answer: each sample's offset, and the offsets that each message accounts for.
async fn read(doors: &Doors, query: &str) -> (Vec<u64>, u64, u64) {
    let request = Request::parse(query, &HeaderMap::new(), 10).unwrap();
    let mut reader = Reader::open(doors, &Caller::local(), request).await.unwrap();
    let (mut offsets, mut accounted) = (Vec::new(), 0);
    loop {
        reader.fetch().await;
        let Some(message) = reader.next() else {
            if reader.is_in_the_past() {
                continue;
            }
            break;
        };
        let mut out = Output::new(Coding::Identity, reader.request().form());
        out.own(b"{");
        message.write(&mut out);
        let json: Value = serde_json::from_slice(&out.take().concat()).unwrap();
        accounted += json["count"].as_u64().unwrap_or(0) + json["thinned"].as_u64().unwrap_or(0);
        for sample in json["samples"].as_array().into_iter().flatten() {
            assert_eq!(sample["offset"], sample["metrics"]["count"]);
            offsets.push(sample["offset"].as_u64().unwrap());
            accounted += 1;
        }
    }
    (offsets, accounted, reader.positions().0[0].offset.0)
}

/// The text of each message.
async fn texts(doors: &Doors, query: &str) -> Vec<String> {
    let request = Request::parse(query, &HeaderMap::new(), 10).unwrap();
    let mut reader = Reader::open(doors, &Caller::local(), request).await.unwrap();
    let mut texts = Vec::new();
    while let Some(message) = reader.next() {
        let mut out = Output::new(Coding::Identity, reader.request().form());
        out.own(b"{");
        message.write(&mut out);
        texts.push(String::from_utf8(out.take().concat()).unwrap());
    }
    texts
}

/// The first message of an answer.
async fn first_message(doors: &Doors, query: &str) -> Value {
    let request = Request::parse(query, &HeaderMap::new(), 10).unwrap();
    let mut reader = Reader::open(doors, &Caller::local(), request).await.unwrap();
    reader.fetch().await;
    let message = reader.next().unwrap();
    let mut out = Output::new(Coding::Identity, reader.request().form());
    out.own(b"{");
    message.write(&mut out);
    serde_json::from_slice(&out.take().concat()).unwrap()
}

/// For each point: time of its last sample, samples, least, greatest and last number, thousand times the mean.
type Sums = Vec<(u64, u64, u64, u64, u64, u64)>;

fn thousand_times(mean: f64) -> u64 {
    (mean * 1e3).round() as u64
}

fn sums(points: &Value) -> Sums {
    let column = |column: &Value| column.as_array().unwrap().clone();
    let [times, samples] = ["times", "samples"].map(|name| column(&points[name]));
    let metric = &points["metrics"]["count"];
    let number = |name: &str, at: usize| metric[name][at].clone();
    (0..times.len())
        .map(|at| {
            let whole = |value: Value| value.as_u64().unwrap();
            let [min, max, last] = ["min", "max", "last"].map(|name| whole(number(name, at)));
            (
                whole(times[at].clone()),
                whole(samples[at].clone()),
                min,
                max,
                last,
                thousand_times(number("mean", at).as_f64().unwrap()),
            )
        })
        .collect()
}

fn expected(numbers: &[u64], step: u64) -> Sums {
    let cell = |number: &u64| number * STEP / step;
    let of_cell = |numbers: &[u64]| {
        let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
        let mean = numbers.iter().sum::<u64>() as f64 / numbers.len() as f64;
        (last * STEP, numbers.len() as u64, first, last, last, thousand_times(mean))
    };
    numbers.chunk_by(|one, other| cell(one) == cell(other)).map(of_cell).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// In the middle of a batch or between two, with the log's tail evicted or not.
    #[test]
    fn a_reader_receives_every_sample_once_or_a_gap_wherever_it_resumes(
        batches in proptest::collection::vec(1_u64..40, 1..12),
        places in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..4), 1..8),
        room in 1_usize..8,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let result: Result<(), TestCaseError> = runtime.block_on(async {
            let log = oasis_dac::config::LogConfig { topic_bytes: room * 512, ..Default::default() };
            let dac = Dac::new(Config { log, ..Config::default() });
            let config = DoorsConfig { shards: ShardChoice::Fixed(1), ..DoorsConfig::default() };
            let doors = Doors::new(dac.clone(), config, None).unwrap();
            let mut plant = Plant::connect(&dac);
            let instance = dac.registry.find("plant", "counter").unwrap();
            batches.iter().for_each(|&count| plant.send(instance.topic.0, count));
            for (place, policy) in places {
                // The newest sample alone, made for an earlier reader, takes room as well.
                let held = instance.log.state().first_offset.0;
                let from = place.index(plant.taken as usize + 1) as u64;
                let options = ["", "&delivery=latest", "&overflow=latest", "&integers=number"][policy];
                let query = format!("node=plant&instance=counter&resume={}:{from}{options}", dac.epoch());
                let (offsets, accounted, next) = read(&doors, &query).await;
                prop_assert_eq!((accounted, next), (plant.taken - from, plant.taken));
                let jumps = policy == 1 || (policy == 2 && from < held);
                let first = if jumps { plant.taken - 1 } else { held };
                prop_assert_eq!(offsets, (first.max(from)..plant.taken).collect::<Vec<_>>());
            }
            Ok(())
        });
        result?;
    }

    /// At any seam between archive and log, points summarize all samples between their ends, and the samples after them follow.
    #[test]
    fn points_cover_every_sample_and_live_samples_follow_them(
        batches in proptest::collection::vec((1_u64..40, any::<bool>()), 1..16),
        places in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1_u32..30), 1..6),
        room in 1_usize..8, is_archived: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let result: Result<(), TestCaseError> = runtime.block_on(async {
            let log = oasis_dac::config::LogConfig { topic_bytes: room * 512, ..Default::default() };
            let dac = Dac::new(Config { log, ..Config::default() });
            let config = DoorsConfig { shards: ShardChoice::Fixed(1), ..DoorsConfig::default() };
            let (archive, _handlers) = archive(folder.path(), &dac);
            let doors = Doors::new(dac.clone(), config, is_archived.then(|| archive.clone())).unwrap();
            let mut plant = Plant::connect(&dac);
            let instance = dac.registry.find("plant", "counter").unwrap();
            for &(count, is_flushed) in &batches {
                plant.send(instance.topic.0, count);
                if is_flushed {
                    archive.flush().await.unwrap();
                }
            }
            for (from, to, most) in places {
                let from = from.index(plant.taken as usize + 1) as u64;
                let to = from + to.index((plant.taken - from) as usize + 1) as u64 + 1;
                let times = format!("from={}ns&to={}ns&points={most}", from * STEP, to * STEP);
                let points = first_message(&doors, &format!("node=plant&instance=counter&{times}")).await;
                prop_assert!(points["times"].as_array().unwrap().len() <= most as usize);
                prop_assert!(points["from"].as_u64().unwrap() <= from * STEP && points["to"].as_u64().unwrap() >= to * STEP);
                let times = format!("from={}ns&to={}ns", points["from"], points["to"]);
                let (every, _, _) = read(&doors, &format!("node=plant&instance=counter&{times}")).await;
                let is_whole = is_archived || instance.log.state().first_offset.0 == 0;
                prop_assert_eq!(sums(&points), expected(&every, points["step"].as_u64().unwrap()), "{} {}", is_whole, points);
            }
            let query = format!("node=plant&instance=counter&from=0&points={}", 10);
            let request = Request::parse(&query, &HeaderMap::new(), 10).unwrap();
            let mut reader = Reader::open(&doors, &Caller::local(), request).await.unwrap();
            reader.fetch().await;
            prop_assert_eq!(reader.next().unwrap().name(), "points");
            let next = reader.positions();
            let before = plant.taken;
            plant.send(instance.topic.0, 3);
            let (offsets, _, _) = read(&doors, &format!("node=plant&instance=counter&resume={next}")).await;
            prop_assert_eq!(offsets, (before..before + 3).collect::<Vec<_>>());
            Ok(())
        });
        result?;
    }

    /// The log is small, and the archive stores now and then. A reader of the past receives each sample once, from the archive or from the log, or a gap if
    /// both have evicted it.
    #[test]
    fn a_reader_of_the_past_receives_every_sample_once_or_a_gap_wherever_the_seam_is(
        batches in proptest::collection::vec((1_u64..40, any::<bool>()), 1..16),
        places in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
        room in 1_usize..8,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let result: Result<(), TestCaseError> = runtime.block_on(async {
            let log = oasis_dac::config::LogConfig { topic_bytes: room * 512, ..Default::default() };
            let dac = Dac::new(Config { log, ..Config::default() });
            let config = DoorsConfig { shards: ShardChoice::Fixed(1), ..DoorsConfig::default() };
            let (archive, _handlers) = archive(folder.path(), &dac);
            let doors = Doors::new(dac.clone(), config, Some(archive.clone())).unwrap();
            let mut plant = Plant::connect(&dac);
            let instance = dac.registry.find("plant", "counter").unwrap();
            for &(count, is_flushed) in &batches {
                plant.send(instance.topic.0, count);
                if is_flushed {
                    archive.flush().await.unwrap();
                }
            }
            for (from, to) in places {
                let from = from.index(plant.taken as usize + 1) as u64;
                let to = from + to.index((plant.taken - from) as usize + 1) as u64;
                // By position, and by times just after a sample and just before one.
                let resume = format!("resume={}:{from}&to={}ns", dac.epoch(), to * STEP);
                let (offsets, accounted, next) =
                    read(&doors, &format!("node=plant&instance=counter&{resume}")).await;
                // The times of samples in a gap are unknown, so a gap at the end is reported completely.
                prop_assert_eq!(accounted, next - from);
                prop_assert!(next >= to && offsets.last().is_none_or(|&last| last < to));
                let times = format!("from={}ns&to={}ns", (from * STEP).saturating_sub(STEP - 1), to * STEP);
                let (again, _, _) = read(&doors, &format!("node=plant&instance=counter&{times}")).await;
                prop_assert_eq!(&again, &offsets);
                // Found from the end, the newest ones are the same.
                for last in [1, 7, 100, 10_000] {
                    let query = format!("node=plant&instance=counter&{times}&last={last}");
                    let (newest, _, _) = read(&doors, &query).await;
                    prop_assert_eq!(&newest[..], &offsets[offsets.len().saturating_sub(last)..]);
                }
            }
            Ok(())
        });
        result?;
    }
}

#[tokio::test]
async fn a_small_batch_with_much_text_becomes_several_messages() {
    let dac = Dac::new(Config::default());
    let metric = |number| format!(r#"{{"name": "{}{number}", "type": "uint8"}}"#, "n".repeat(200));
    let metrics: Vec<String> = (0..8).map(metric).collect();
    let json = format!(
        r#"{{"name": "Wide", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d12", "version": "1.0", "metrics": [{}]}}"#,
        metrics.join(", ")
    );
    let wide: ProbeType = serde_json::from_str(&json).unwrap();
    let mut plant = Plant::connect_as(&dac, wide.clone());
    let mut encoder = Encoder::new(&wide).unwrap();
    (0..10_000).for_each(|time| encoder.push(time, &[7; 8]).unwrap());
    let mut batch = Vec::new();
    let topic = dac.registry.find("plant", "counter").unwrap().topic.0;
    encoder.finish(Fields { topic, first_sequence: 1, ..Fields::default() }, &mut batch);
    assert!(batch.len() < 2_000, "{}", batch.len());
    plant.session.handle(Frame::Batch(&batch), now(), &mut Vec::new()).unwrap();

    let doors = Doors::new(dac, DoorsConfig::default(), None).unwrap();
    let texts = texts(&doors, "node=plant&instance=counter&from=earliest").await;
    assert!(texts.len() > 10 && texts.iter().all(|text| text.len() < 1_100_000), "{}", texts.len());
    let samples: Vec<Value> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let sequences = samples.iter().flat_map(|message| message["samples"].as_array().unwrap());
    let sequences: Vec<u64> = sequences.map(|sample| sample["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (1..=10_000).collect::<Vec<u64>>());
}

#[cfg(feature = "arrow")]
#[tokio::test(flavor = "multi_thread")]
async fn readers_of_arrow_share_the_memory_of_unread_answers() {
    use axum::{
        extract::{ConnectInfo, RawQuery, State},
        response::IntoResponse,
    };
    // Unread answers may have nine MiB together, and each of these reserves four.
    let dac = Dac::new(Config { memory_bytes: 8 * 9 * 1024 * 1024, ..Config::default() });
    let doors = Doors::new(dac.clone(), DoorsConfig::default(), None).unwrap();
    let mut plant = Plant::connect(&dac);
    let topic = dac.registry.find("plant", "counter").unwrap().topic.0;
    (0..200).for_each(|_| plant.send(topic, 1_000));
    let ask = || {
        let query = RawQuery(Some("node=plant&instance=counter&from=earliest".into()));
        let peer = ConnectInfo("127.0.0.1:9".parse().unwrap());
        let caller = axum::Extension(Caller::local());
        super::history::arrow(State(doors.clone()), peer, caller, query, HeaderMap::new())
    };
    let (first, second) = (ask().await.unwrap(), ask().await.unwrap());
    let refused = ask().await.unwrap_err().into_response();
    assert_eq!(refused.status(), axum::http::StatusCode::SERVICE_UNAVAILABLE);
    assert!(dac.answers.used() <= 9 * 1024 * 1024);
    drop((first, second));
    // The threads that wrote them notice that they have no reader.
    let freed = async {
        while dac.answers.used() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), freed).await.unwrap();
    assert!(ask().await.is_ok());
}

#[tokio::test]
async fn samples_after_a_gap_have_its_causes_and_a_reader_in_the_middle_of_the_batch_does_not() {
    let dac = Dac::new(Config::default());
    let mut plant = Plant::connect(&dac);
    plant.send(1, 3);
    plant.drop_samples(1, Drops { ring_full: 2, kept_back: 4, ..Drops::default() });
    plant.send(1, 3);
    plant.send(1, 1);
    let doors = Doors::new(dac.clone(), DoorsConfig::default(), None).unwrap();
    let query = "node=plant&instance=counter&from=earliest";
    let gaps = |text: &String| serde_json::from_str::<Value>(text).unwrap()["gaps_before"].clone();
    let read: Vec<Value> = texts(&doors, query).await.iter().map(gaps).collect();
    let gap = |from: u64, to: u64, cause: &str| json!({"from_sequence": from, "to_sequence": to, "count": to - from + 1, "cause": cause, "run": Uuid::from_u128(1)});
    let both = json!([gap(4, 7, "kept_back"), gap(8, 9, "ring_full")]);
    assert_eq!(read, [Value::Null, both, Value::Null]);
    let resumed = format!("node=plant&instance=counter&resume={}:4", dac.epoch());
    let read: Vec<Value> = texts(&doors, &resumed).await.iter().map(gaps).collect();
    assert_eq!(read, [Value::Null, Value::Null]);
}
