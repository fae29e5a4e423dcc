//! Samples from frames: the signals of messages, all frames as bytes, and figures of the bus.

use crate::frame::Frame;
use oasis_format::{
    can::{Database, MessageDescription, signal_column},
    columns::{Cell, ColumnTable},
};
use oasis_source_node::{DeclaredSample, SourceLoss, SourceNodes};
use oasis_wire::{
    schema::{Behavior, Metric, MetricType, ProbeType},
    value::RowWriter,
};
use std::{collections::HashMap, io::Read, path::PathBuf, sync::Arc};
use uuid::Uuid;

/// The instance with all frames of an interface, whose gaps are the frames that the kernel dropped.
pub const FRAMES: &str = "frames";
/// The instance with the figures of an interface.
pub const BUS: &str = "bus";
/// The namespace of types (RFC 9562, version 5).
const NAMESPACE: Uuid = Uuid::from_u128(0x9d42_71b6_3c0e_4f58_a1e7_60f2_8b5d_4c13);
/// Time between two samples of [`BUS`], in nanoseconds.
const BUS_INTERVAL_NANOS: u64 = 1_000_000_000;
/// Most bytes of a database.
const MAX_DATABASE_BYTES: u64 = 64 << 20;

/// The messages of all databases.
#[derive(Debug, Clone, Default)]
pub struct Messages {
    described: Vec<MessageDescription>,
    by_id: HashMap<(u32, bool), usize>,
}

impl Messages {
    /// Reads databases.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn read(paths: &[PathBuf]) -> Result<Self, String> {
        let mut all = Self::default();
        for path in paths {
            let shown = path.display();
            let file = std::fs::File::open(path).map_err(|error| format!("{shown}: {error}"))?;
            let mut content = Vec::new();
            let read = file.take(MAX_DATABASE_BYTES + 1).read_to_end(&mut content);
            read.map_err(|error| format!("{shown}: {error}"))?;
            if content.len() as u64 > MAX_DATABASE_BYTES {
                return Err(format!("{shown}: it has more than {} MiB", MAX_DATABASE_BYTES >> 20));
            }
            let database = Database::parse(&content).map_err(|error| {
                format!("{shown}: {error}: correct the database (cantools dump FILE checks it)")
            })?;
            all.add(database);
        }
        Ok(all)
    }

    /// Adds those of a database. The first one with an identifier counts.
    pub fn add(&mut self, database: Database) {
        // A message without signals has no values.
        for message in database.messages.into_iter().filter(|message| !message.signals.is_empty()) {
            let key = (message.id, message.is_extended);
            if !self.by_id.contains_key(&key) {
                self.by_id.insert(key, self.described.len());
                self.described.push(message);
            }
        }
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.described.len()
    }
}

/// Counters of an interface since the handler started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecoderCounters {
    /// Frames but those that report errors.
    pub frames: u64,
    /// Bits of these, without stuff bits.
    pub bits: u64,
    /// Frames with which the controller reports errors.
    pub error_frames: u64,
    /// Frames that the kernel dropped because they were not read as fast.
    pub dropped_frames: u64,
    /// Frames that no database describes.
    pub undescribed_frames: u64,
    /// Frames that have fewer bytes than their message.
    pub short_frames: u64,
    /// Datagrams that are no frames.
    pub bad_datagrams: u64,
    /// Samples.
    pub samples: u64,
    /// Samples that were refused.
    pub refused_samples: u64,
    /// Why the newest one was refused.
    pub newest_refusal: Option<String>,
}

/// The frames of an interface.
#[derive(Debug)]
pub struct Decoder {
    node: String,
    messages: Arc<Messages>,
    tables: HashMap<usize, MessageTable>,
    keeps_frames: bool,
    bit_rates: (u64, u64),
    frame_type: Arc<ProbeType>,
    bus_type: Arc<ProbeType>,
    row: Vec<u8>,
    busy_seconds: f64,
    /// Time and busy seconds of the newest sample of [`BUS`].
    newest_bus: Option<(u64, f64)>,
    /// Counters since its creation.
    pub counters: DecoderCounters,
}

#[derive(Debug)]
struct MessageTable {
    table: ColumnTable,
    /// Bytes that all signals need which are always present.
    least_bytes: usize,
}

impl Decoder {
    /// Creates it. `bit_rates` are those of arbitration and data, 0 for unknown.
    pub fn new(node: String, messages: Arc<Messages>, keeps_frames: bool, bit_rates: (u64, u64)) -> Self {
        let bit_rates = (bit_rates.0, if bit_rates.1 == 0 { bit_rates.0 } else { bit_rates.1 });
        Self {
            node,
            messages,
            tables: HashMap::new(),
            keeps_frames,
            bit_rates,
            frame_type: Arc::new(frame_type()),
            bus_type: Arc::new(bus_type()),
            row: Vec::new(),
            busy_seconds: 0.0,
            newest_bus: None,
            counters: DecoderCounters::default(),
        }
    }

    /// The name of its node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Takes a datagram of the kernel, before which it dropped some.
    pub fn receive(&mut self, bytes: &[u8], dropped_before: u32, now: u64, nodes: &mut SourceNodes) {
        self.counters.dropped_frames += u64::from(dropped_before);
        if dropped_before > 0 && self.keeps_frames {
            nodes.note_missing(&self.node, FRAMES, dropped_before, SourceLoss::Overrun);
        }
        let Ok(frame) = Frame::parse(bytes) else {
            self.counters.bad_datagrams += 1;
            return;
        };
        self.count(&frame);
        if self.keeps_frames {
            frame_row(&frame, &mut self.row);
            let probe_type = self.frame_type.clone();
            self.push(FRAMES, &probe_type, now, nodes);
        }
        if frame.is_error || frame.is_remote {
            return;
        }
        let messages = self.messages.clone();
        let found = messages.by_id.get(&(frame.id, frame.is_extended)).copied();
        let Some((at, message)) = found.and_then(|at| Some((at, messages.described.get(at)?))) else {
            self.counters.undescribed_frames += 1;
            return;
        };
        let table = self.tables.entry(at).or_insert_with(|| MessageTable::of(message));
        if frame.data.len() < table.least_bytes {
            self.counters.short_frames += 1;
            return;
        }
        table.table.write(&mut self.row, |at, _| {
            message.signals.get(at).map_or(Cell::Absent, |signal| message.value(signal, frame.data))
        });
        let probe_type = table.table.probe_type.clone();
        self.push(&message.name, &probe_type, now, nodes);
    }

    fn count(&mut self, frame: &Frame<'_>) {
        if frame.is_error {
            self.counters.error_frames += 1;
            return;
        }
        let (arbitration, data) = frame.bits();
        self.counters.frames += 1;
        self.counters.bits += arbitration + data;
        if self.bit_rates.0 > 0 {
            self.busy_seconds +=
                arbitration as f64 / self.bit_rates.0 as f64 + data as f64 / self.bit_rates.1 as f64;
        }
    }

    /// Takes a sample of `BUS` each second.
    pub fn poll(&mut self, now: u64, nodes: &mut SourceNodes) {
        let (since, busy) = self.newest_bus.unwrap_or((now, self.busy_seconds));
        if self.newest_bus.is_some() && now.saturating_sub(since) < BUS_INTERVAL_NANOS {
            return;
        }
        let seconds = now.saturating_sub(since) as f64 / 1e9;
        let is_known = self.bit_rates.0 > 0 && seconds > 0.0;
        let load = if is_known { (self.busy_seconds - busy) / seconds * 100.0 } else { f64::NAN };
        self.newest_bus = Some((now, self.busy_seconds));
        self.row.clear();
        let mut writer = RowWriter::new(&mut self.row);
        let counters = &self.counters;
        for counter in [counters.frames, counters.bits, counters.error_frames, counters.dropped_frames] {
            writer.u64(counter);
        }
        writer.f64(load);
        let probe_type = self.bus_type.clone();
        self.push(BUS, &probe_type, now, nodes);
    }

    fn push(&mut self, instance: &str, probe_type: &Arc<ProbeType>, time: u64, nodes: &mut SourceNodes) {
        let sample = DeclaredSample { node: &self.node, instance, probe_type, time, row: &self.row };
        match nodes.push_declared(&sample) {
            Ok(()) => self.counters.samples += 1,
            Err(why) => {
                self.counters.refused_samples += 1;
                self.counters.newest_refusal = Some(why.to_string());
            }
        }
    }
}

impl MessageTable {
    /// Makes a type of the signals of a message.
    fn of(message: &MessageDescription) -> Self {
        let mut columns = Vec::new();
        let (mut least_bytes, mut needs_absent) = (0, false);
        for signal in &message.signals {
            let mut column = signal_column(signal);
            let extremes = signal.extremes();
            extremes.iter().for_each(|value| {
                column.survey(*value);
            });
            let is_real = extremes.iter().all(|value| matches!(value, Cell::Real(_)));
            if signal.selected_by.is_some() {
                // NaN stands for a real that is absent.
                needs_absent |= !is_real;
            } else {
                least_bytes = least_bytes.max(signal.least_bytes());
            }
            columns.push(column);
        }
        Self { table: ColumnTable::with_absent(&message.name, &columns, needs_absent), least_bytes }
    }
}

fn described(name: &str, kind: MetricType, unit: &str, doc: &str) -> Metric {
    let mut metric = Metric::new(name, kind);
    metric.unit = Some(unit).filter(|unit| !unit.is_empty()).map(str::to_owned);
    metric.doc = Some(doc.into());
    metric
}

fn identified(name: &str, doc: &str, metrics: Vec<Metric>) -> ProbeType {
    let mut probe_type = ProbeType {
        name: name.into(),
        uuid: Uuid::nil(),
        version: "1.0".into(),
        doc: Some(doc.into()),
        rate: None,
        metrics,
    };
    let content = serde_json::to_vec(&probe_type).unwrap_or_default();
    probe_type.uuid = Uuid::new_v5(&NAMESPACE, &content);
    probe_type
}

/// The type of [`FRAMES`], with the metrics that `oasis import` gives frames of candump.
fn frame_type() -> ProbeType {
    let metrics = vec![
        described(
            "id",
            MetricType::Uint32,
            "",
            "The identifier; of an error frame the classes of its errors (linux/can/error.h).",
        ),
        described("is_extended", MetricType::Boolean, "", "Whether the identifier has 29 bits."),
        described("is_remote", MetricType::Boolean, "", "Whether the frame requests data."),
        described("is_error", MetricType::Boolean, "", "Whether the controller reports an error with it."),
        described("is_fd", MetricType::Boolean, "", "Whether it is a frame of CAN FD."),
        described("fd_flags", MetricType::Uint8, "", "Flags of CAN FD."),
        described(
            "length",
            MetricType::Uint8,
            "By",
            "The bytes of data; those that a remote frame requests.",
        ),
        described("data", MetricType::Vector(Box::new(MetricType::Uint8)), "", "The data."),
    ];
    identified("CAN::Frame", "The frames of a CAN interface.", metrics)
}

fn frame_row(frame: &Frame<'_>, row: &mut Vec<u8>) {
    row.clear();
    let mut to = RowWriter::new(row);
    to.u32(frame.id);
    to.boolean(frame.is_extended);
    to.boolean(frame.is_remote);
    to.boolean(frame.is_error);
    to.boolean(frame.fd_flags.is_some());
    to.u8(frame.fd_flags.unwrap_or(0));
    to.u8(frame.length);
    to.vector(frame.data.len());
    to.packed(frame.data);
}

/// The type of [`BUS`].
fn bus_type() -> ProbeType {
    let counter = |name, unit, doc| {
        let mut metric = described(name, MetricType::Uint64, unit, doc);
        metric.behavior = Some(Behavior::Counter);
        metric
    };
    let metrics = vec![
        counter("frames", "{frame}", "Frames since the DAC started, without error frames."),
        counter(
            "bits",
            "bit",
            "Bits of these frames, without stuff bits: the bus carries up to a fifth more.",
        ),
        counter("error_frames", "{frame}", "Frames with which the controller reports errors."),
        counter(
            "dropped_frames",
            "{frame}",
            "Frames that the kernel dropped because the DAC did not read them as fast.",
        ),
        described(
            "load",
            MetricType::Real64,
            "%",
            "Time that the bits take at can.bit_rate; not a number without that setting.",
        ),
    ];
    identified("CAN::Bus", "Figures of a CAN interface.", metrics)
}
