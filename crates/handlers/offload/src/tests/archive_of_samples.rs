//! An archive with sealed segments, without a DAC, and a reader of Parquet.

use arrow_array::{
    Int32Array, StringArray, TimestampNanosecondArray, UInt64Array,
    cast::AsArray,
    types::{Int32Type, TimestampNanosecondType, UInt64Type},
};
use oasis_store::{
    ArchiveConfig, Gap, History, WritableStore,
    catalogue::{LossRow, SealedFile},
    open,
    plausible::TimeWindow,
    segment_file::SegmentFile,
    series::Series,
};
use oasis_wire::{
    batch::{Encoder, Fields, stamp},
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::{Epoch, Nanos, Offset, TopicId},
    schema::ProbeType,
    value::RowWriter,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::{collections::BTreeMap, fs, ops::RangeInclusive, sync::Arc};
use tempfile::TempDir;
use uuid::Uuid;

pub const EPOCH: Epoch = Epoch(0xab);
pub const RUN: Uuid = Uuid::from_u128(9);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestSample {
    pub instance: String,
    pub sequence: u64,
    pub time: u64,
    pub count: u64,
}

pub fn counter(name: &str) -> Arc<ProbeType> {
    let json = serde_json::json!({"name": name, "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
        "metrics": [{"name": "count", "type": "uint64"}]});
    Arc::new(serde_json::from_value(json).unwrap())
}

pub struct ArchiveOfSamples {
    _folder: TempDir,
    writable: WritableStore,
    file: SegmentFile,
    number: u64,
    epoch: Epoch,
    run: Uuid,
    /// The next offset of each instance.
    ends: BTreeMap<String, u64>,
}

impl ArchiveOfSamples {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().display().to_string();
        let config = ArchiveConfig { directory, min_free_bytes: 0, ..ArchiveConfig::default() };
        let writable = open(config).unwrap();
        let file = SegmentFile::create(folder.path(), 1, EPOCH).unwrap();
        Self { _folder: folder, writable, file, number: 1, epoch: EPOCH, run: RUN, ends: BTreeMap::new() }
    }

    pub fn history(&self) -> History {
        History(self.writable.store.clone())
    }

    /// Adds samples of one instance, with consecutive numbers, in batches of this size.
    pub fn add(&mut self, probe_type: &Arc<ProbeType>, samples: &[TestSample], batch: usize) {
        for chunk in samples.chunks(batch) {
            let mut encoder = Encoder::new(probe_type).unwrap();
            for sample in chunk {
                let mut row = Vec::new();
                RowWriter::new(&mut row).u64(sample.count);
                encoder.push(sample.time, &row).unwrap();
            }
            let first_sequence = chunk[0].sequence;
            let mut bytes = Vec::new();
            encoder.finish(Fields { first_sequence, node_time: 7, ..Fields::default() }, &mut bytes);
            let (key, series) = self.series_of(&chunk[0].instance, probe_type);
            let end = self.ends.entry(chunk[0].instance.clone()).or_default();
            stamp(&mut bytes, *end, 5);
            let count = u16::try_from(chunk.len()).unwrap();
            self.file.stage(key, || series, &bytes, (Offset(*end), count)).unwrap();
            *end += u64::from(count);
        }
        self.file.finish_writing().unwrap();
        self.file.commit().unwrap();
    }

    /// Lists offsets that were not stored.
    pub fn gap(&mut self, instance: &str, probe_type: &Arc<ProbeType>, gap: Gap) {
        let (key, series) = self.series_of(instance, probe_type);
        self.file.stage_gap(key, || series, gap);
        self.ends.insert(instance.into(), gap.to.0);
    }

    /// Lists numbers that never reached the DAC.
    pub fn lose(&self, instance: &str, numbers: RangeInclusive<u64>) {
        let (cause, time) = (Cause::RingFull, Nanos(5));
        let loss = LossRow { node: "plant", instance, run: self.run, numbers, cause, time };
        self.writable.store.catalogue().add_losses([loss].into_iter()).unwrap();
    }

    /// Seals the segment, lists it, and begins the next one.
    pub fn seal(&mut self) {
        self.file.finish_writing().unwrap();
        self.file.commit().unwrap();
        let bytes = self.file.seal().unwrap();
        let index = self.file.open.index().clone();
        let sealed = SealedFile {
            number: self.number,
            rule: "*",
            created: Nanos(1),
            sealed: Nanos(2),
            bytes,
            index: &index,
            window: TimeWindow::ALL,
        };
        self.writable.store.add_sealed(&sealed).unwrap();
        self.number += 1;
        self.file = SegmentFile::create(&self.writable.store.directory, self.number, self.epoch).unwrap();
    }

    /// Seals the segment. The next one is of another epoch, in which offsets begin again, and of another run if the nodes restart too.
    pub fn seal_epoch(&mut self, epoch: Epoch, run: Uuid) {
        self.epoch = epoch;
        self.seal();
        self.run = run;
        self.ends.clear();
    }

    /// Removes the file of a segment that stays listed.
    pub fn remove_file(&self, segment: u64) {
        fs::remove_file(oasis_store::segment_file::path(&self.writable.store.directory, segment)).unwrap();
    }

    fn series_of(&self, instance: &str, probe_type: &Arc<ProbeType>) -> ((TopicId, Uuid), Series) {
        let topic = instance.bytes().chain(probe_type.name.bytes()).map(u32::from).sum();
        let series = Series {
            node: "plant".into(),
            instance: instance.into(),
            kind: ProbeKind::Pushed,
            run: self.run,
            epoch: self.epoch,
            probe_type: probe_type.clone(),
        };
        ((TopicId(topic), self.run), series)
    }

    /// Flips a bit of the batch of a segment that has this number.
    pub fn damage_batch(&self, segment: u64, first_sequence: u64) {
        let shares = crate::series_shares::SegmentShares::read(
            &self.history(),
            segment,
            crate::series_shares::UnreadParts::Fail,
        )
        .unwrap();
        let share = &shares.types[0].instances.values().next().unwrap()[0];
        let of = |entry: &&oasis_store::index::Entry| entry.last_sequence >= first_sequence;
        let entry = share.entries.iter().find(of).unwrap();
        let path = oasis_store::segment_file::path(&self.writable.store.directory, segment);
        let mut bytes = fs::read(&path).unwrap();
        bytes[usize::try_from(entry.position).unwrap() + 60] ^= 1;
        fs::write(path, bytes).unwrap();
    }
}

/// The rows of a Parquet file, in order.
pub fn rows_in(bytes: Vec<u8>) -> Vec<TestSample> {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap().build().unwrap();
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let instances = column("instance").as_dictionary::<Int32Type>();
        let (keys, names): (&Int32Array, &StringArray) = (instances.keys(), instances.values().as_string());
        let times: &TimestampNanosecondArray = column("time").as_primitive::<TimestampNanosecondType>();
        let numbers = |name: &str| -> UInt64Array { column(name).as_primitive::<UInt64Type>().clone() };
        let (sequences, counts) = (numbers("sequence"), numbers("count"));
        rows.extend((0..batch.num_rows()).map(|at| TestSample {
            instance: names.value(usize::try_from(keys.value(at)).unwrap()).to_owned(),
            sequence: sequences.value(at),
            time: times.value(at) as u64,
            count: counts.value(at),
        }));
    }
    rows
}
