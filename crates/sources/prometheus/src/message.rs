//! The messages `prometheus.WriteRequest` of version 1.0 and `io.prometheus.write.v2.Request` of version 2.0.
//!
//! Nothing is copied: labels and samples are read from the bytes of the message, series by series.

use oasis_format::protobuf::{BadWire, WireValue, next_field, varint};

/// Most labels of a series. Prometheus itself has no limit; the name of an instance has one.
const MAX_LABELS: usize = 128;
/// Most texts of a message of version 2.0.
const MAX_SYMBOLS: usize = 1_000_000;

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    V1,
    V2,
}

impl Version {
    /// Returns the version that a content type names; the first one if it names none.
    pub fn of(content_type: Option<&str>) -> Option<Self> {
        let mut parts = content_type.unwrap_or("application/x-protobuf").split(';').map(str::trim);
        if parts.next() != Some("application/x-protobuf") {
            return None;
        }
        match parts.find_map(|part| part.strip_prefix("proto=")) {
            None | Some("prometheus.WriteRequest") => Some(Self::V1),
            Some("io.prometheus.write.v2.Request") => Some(Self::V2),
            Some(_) => None,
        }
    }
}

/// A sample of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub value: f64,
    /// Milliseconds since 1970.
    pub time: i64,
}

/// A series, as one of the parts of a message.
#[derive(Debug, Default)]
pub struct Series<'m> {
    /// Names and values, in the order of the sender, which sorts them.
    pub labels: Vec<(&'m str, &'m str)>,
    pub points: Vec<Point>,
    /// Native histograms, which are not taken.
    pub histograms: u64,
    /// Exemplars, which are not taken.
    pub exemplars: u64,
}

/// Why a series is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadSeries {
    #[error("the message is damaged")]
    Wire,
    #[error("a label is not UTF-8")]
    Text,
    #[error("a series has more than {MAX_LABELS} labels")]
    Labels,
    #[error("a label names a text that the message does not have")]
    Symbol,
    #[error("the message is of another version of remote write than the content type names")]
    Version,
}

impl From<BadWire> for BadSeries {
    fn from(_: BadWire) -> Self {
        Self::Wire
    }
}

/// The series of a message.
pub struct Message<'m> {
    version: Version,
    rest: &'m [u8],
    symbols: Vec<&'m [u8]>,
    /// The metric of the newest series, if it could be read.
    metric: &'m str,
}

impl<'m> Message<'m> {
    /// Begins to read a message.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn new(version: Version, bytes: &'m [u8]) -> Result<Self, BadSeries> {
        let mut symbols = Vec::new();
        let mut rest = bytes;
        loop {
            let (field, value) = match next_field(&mut rest) {
                Ok(Some(field)) => field,
                // The series before the damage are read.
                Err(BadWire) if version == Version::V1 => break,
                Ok(None) => break,
                Err(damage) => return Err(damage.into()),
            };
            match (version, field, value) {
                // Version 2.0 reserves the fields of version 1.0, so that each refuses a message of the other.
                (Version::V1, 4 | 5, _) | (Version::V2, 1..=3, _) => return Err(BadSeries::Version),
                (Version::V2, 4, WireValue::Bytes(text)) => {
                    if symbols.len() == MAX_SYMBOLS {
                        return Err(BadSeries::Symbol);
                    }
                    symbols.push(text);
                }
                _ => {}
            }
        }
        Ok(Self { version, rest: bytes, symbols, metric: "" })
    }

    /// Reads the next series; `None` at the end. After [`BadSeries::Wire`] nothing follows.
    pub fn next_series(&mut self) -> Option<Result<Series<'m>, BadSeries>> {
        let wanted = if self.version == Version::V1 { 1 } else { 5 };
        loop {
            match next_field(&mut self.rest) {
                Ok(Some((field, WireValue::Bytes(bytes)))) if field == wanted => {
                    let mut series = Series::default();
                    let read = self.series(bytes, &mut series);
                    let metric = series.labels.iter().find(|(name, _)| *name == "__name__");
                    self.metric = metric.map_or("", |(_, metric)| *metric);
                    return Some(read.map(|()| series));
                }
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(BadWire) => {
                    self.rest = &[];
                    return Some(Err(BadSeries::Wire));
                }
            }
        }
    }

    /// Returns the metric of the newest series, also of one that is refused; empty if it is not known.
    pub fn metric(&self) -> &'m str {
        self.metric
    }

    fn series(&self, mut bytes: &'m [u8], series: &mut Series<'m>) -> Result<(), BadSeries> {
        while let Some((field, value)) = next_field(&mut bytes)? {
            match (self.version, field, value) {
                (Version::V1, 1, WireValue::Bytes(pair)) => series.label(label(pair)?)?,
                (Version::V2, 1, WireValue::Bytes(packed)) => self.labels(packed, series)?,
                (_, 2, WireValue::Bytes(sample)) => series.points.push(point(sample)?),
                (Version::V1, 3, WireValue::Bytes(_)) | (Version::V2, 4, WireValue::Bytes(_)) => {
                    series.exemplars += 1
                }
                (Version::V1, 4, WireValue::Bytes(_)) | (Version::V2, 3, WireValue::Bytes(_)) => {
                    series.histograms += 1
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the numbers of names and values.
    fn labels(&self, mut packed: &'m [u8], series: &mut Series<'m>) -> Result<(), BadSeries> {
        let symbol = |number: u64| {
            let bytes = usize::try_from(number).ok().and_then(|at| self.symbols.get(at));
            bytes.ok_or(BadSeries::Symbol).and_then(|bytes| text(bytes))
        };
        while !packed.is_empty() {
            let name = symbol(varint(&mut packed)?)?;
            let value = symbol(varint(&mut packed)?)?;
            series.label((name, value))?;
        }
        Ok(())
    }
}

impl<'m> Series<'m> {
    fn label(&mut self, label: (&'m str, &'m str)) -> Result<(), BadSeries> {
        if self.labels.len() == MAX_LABELS {
            return Err(BadSeries::Labels);
        }
        self.labels.push(label);
        Ok(())
    }
}

fn label(mut pair: &[u8]) -> Result<(&str, &str), BadSeries> {
    let (mut name, mut value) = ("", "");
    while let Some((field, bytes)) = next_field(&mut pair)? {
        match (field, bytes) {
            (1, WireValue::Bytes(bytes)) => name = text(bytes)?,
            (2, WireValue::Bytes(bytes)) => value = text(bytes)?,
            _ => {}
        }
    }
    Ok((name, value))
}

fn text(bytes: &[u8]) -> Result<&str, BadSeries> {
    str::from_utf8(bytes).map_err(|_| BadSeries::Text)
}

fn point(mut sample: &[u8]) -> Result<Point, BadSeries> {
    // Protocol Buffers leave out zeros.
    let mut point = Point { value: 0.0, time: 0 };
    while let Some((field, value)) = next_field(&mut sample)? {
        match (field, value) {
            (1, WireValue::Fixed64(bytes)) => point.value = f64::from_le_bytes(bytes),
            (2, WireValue::Varint(time)) => point.time = time.cast_signed(),
            _ => {}
        }
    }
    Ok(point)
}
