//! Cost of compressed text for many readers of one segment: pieces that are made once and spliced into each answer, beside one library
//! encoder for each reader. Figures are in the doc comment of the crate.

#![allow(clippy::unwrap_used, reason = "a bench may end when its own data is wrong")]

#[allow(unused_imports, dead_code, reason = "its tests run with the crate")]
#[path = "../src/text/gzip.rs"]
mod gzip;
#[allow(unused_imports, dead_code, reason = "its tests run with the crate")]
#[path = "../src/text/zstd.rs"]
mod zstd_pieces;

use bytes::{Bytes, BytesMut};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use flate2::{Compress, Compression, FlushCompress};
use std::{fmt::Write, hint::black_box, io::Write as _};

const READERS: [usize; 4] = [1, 2, 10, 100];
/// Bytes of a door before each message, one for each reader.
const OWN: &[u8] = b"event: samples\nid: 7c9e6679-7425-40de-944b-e07fc1f90ae7:123456\ndata: {";

/// A segment of 100 samples of a processor probe, as the text doors write it.
fn text() -> Bytes {
    let mut text = String::from(
        "\"event\":\"samples\",\"node\":\"plant-7\",\"instance\":\"processor\",\"dropped_before\":0,\"thinned\":0,\"samples\":[",
    );
    let mut noise = 1_u64;
    for sample in 0..100_u64 {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (time, load) = (1_763_683_200_000_000_000 + sample * 10_000_000, (noise >> 40) as f64 / 1e5);
        let _ = write!(
            text,
            "{{\"sequence\":{sample},\"offset\":{},\"time\":{time},\"state\":0,\"metrics\":{{\"user_time\":{load},\"system_time\":{},\"idle_time\":{}}}}},",
            sample + 5_000,
            load / 3.0,
            100.0 - load,
        );
    }
    text.push_str("]}\n");
    text.into()
}

/// Readers in the middle of their answers: what a reader sets up once is not measured.
fn gzip(criterion: &mut Criterion) {
    let text = text();
    let mut group = criterion.benchmark_group("gzip");
    for readers in READERS {
        group.throughput(Throughput::Elements(readers as u64));
        group.bench_function(BenchmarkId::new("spliced", readers), |bencher| {
            let mut splices: Vec<_> = (0..readers).map(|_| gzip::Splice::default()).collect();
            for splice in &mut splices {
                splice.head();
            }
            bencher.iter(|| {
                let piece = gzip::piece(&text);
                for splice in &mut splices {
                    let mut out = BytesMut::new();
                    splice.own(OWN, &mut out);
                    black_box((out, splice.shared(&piece)));
                }
            });
        });
        group.bench_function(BenchmarkId::new("encoder", readers), |bencher| {
            let mut encoders: Vec<_> =
                (0..readers).map(|_| Compress::new(Compression::fast(), false)).collect();
            bencher.iter(|| {
                for encoder in &mut encoders {
                    let mut out = Vec::with_capacity(text.len());
                    encoder.compress_vec(OWN, &mut out, FlushCompress::None).unwrap();
                    encoder.compress_vec(&text, &mut out, FlushCompress::Sync).unwrap();
                    black_box(out);
                }
            });
        });
    }
    group.finish();
}

fn zstd(criterion: &mut Criterion) {
    let text = text();
    let mut group = criterion.benchmark_group("zstd");
    for readers in READERS {
        group.throughput(Throughput::Elements(readers as u64));
        group.bench_function(BenchmarkId::new("spliced", readers), |bencher| {
            bencher.iter(|| {
                let piece = zstd_pieces::piece(&text);
                for _ in 0..readers {
                    let mut out = BytesMut::new();
                    zstd_pieces::own(OWN, &mut out);
                    black_box((out, piece.clone()));
                }
            });
        });
        group.bench_function(BenchmarkId::new("encoder", readers), |bencher| {
            let mut encoders: Vec<_> =
                (0..readers).map(|_| zstd::stream::Encoder::new(Vec::new(), 1).unwrap()).collect();
            encoders.iter_mut().for_each(|encoder| encoder.window_log(20).unwrap());
            bencher.iter(|| {
                for encoder in &mut encoders {
                    encoder.write_all(OWN).unwrap();
                    encoder.write_all(&text).unwrap();
                    encoder.flush().unwrap();
                    black_box(std::mem::take(encoder.get_mut()));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, gzip, zstd);
criterion_main!(benches);
