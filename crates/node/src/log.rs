//! `LogProbe`: log records of a program, from a bridge to a logging library or from calls of its own.

use crate::{
    cut::{Cutter, Field, TARGET, THREAD},
    generated::oasis::program::{LogLevel, LogProbe},
    text_probe::TextProbe,
};
use oasis_probe::{NodeBuilder, NodeError, RowWriter};

/// Maximum bytes of a message.
pub const MESSAGE: usize = 2_048;
/// Maximum bytes of the path of a source file.
pub const FILE: usize = 256;
/// Maximum bytes of the names of the spans around a record.
pub const SPAN: usize = 256;

/// One log record. Texts beyond their bounds are cut and counted.
#[derive(Debug, Clone, Copy)]
pub struct LogRecord<'a> {
    /// Its severity.
    pub level: LogLevel,
    /// The logger or module that writes it.
    pub target: &'a str,
    /// Its message.
    pub message: &'a str,
    /// Source file, or empty.
    pub file: &'a str,
    /// Line in that file, or 0.
    pub line: u32,
    /// Thread.
    pub thread: &'a str,
    /// Names of the spans around it, the outermost first, separated by colons.
    pub span: &'a str,
    /// Bytes of its texts that the caller already cut.
    pub cut: u64,
}

impl<'a> LogRecord<'a> {
    /// Returns a record without file, thread and span.
    pub fn new(level: LogLevel, target: &'a str, message: &'a str) -> Self {
        Self { level, target, message, file: "", line: 0, thread: "", span: "", cut: 0 }
    }

    /// Writes its sample, with these further values.
    pub fn write<'f>(&self, row: &mut RowWriter<'_>, fields: impl ExactSizeIterator<Item = Field<'f>>) {
        row.u8(self.level.into());
        let mut to = Cutter::new(row, self.cut);
        to.text(self.target, TARGET);
        to.text(self.message, MESSAGE);
        to.path(self.file, FILE);
        to.row().u32(self.line);
        to.text(self.thread, THREAD);
        to.path(self.span, SPAN);
        to.fields(fields);
        to.finish();
    }
}

/// Takes log records from any thread and never waits. A record that finds no room is dropped and counted, and the DAC learns the count.
#[derive(Debug)]
pub struct Logger(TextProbe);

impl Logger {
    /// Adds the instance to a node, with a ring of `ring_bytes`. A record takes the bytes of its texts and about 70 more.
    ///
    /// # Errors
    /// The node already has an instance of this name.
    pub fn new(node: &mut NodeBuilder, instance: &str, ring_bytes: usize) -> Result<Self, NodeError> {
        TextProbe::new::<LogProbe>(node, instance, ring_bytes).map(Self)
    }

    /// Whether the instance takes records: a command can disable it.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.0.is_enabled()
    }

    /// Returns whether the node runs in another process, of which this one is a child: then nothing is taken.
    pub fn is_forked(&self) -> bool {
        self.0.is_forked()
    }

    /// Logs a record of `time`, in nanoseconds since 1970-01-01 UTC.
    pub fn log<'f>(
        &self,
        time: u64,
        record: &LogRecord<'_>,
        fields: impl ExactSizeIterator<Item = Field<'f>>,
    ) {
        self.0.flush(time, |row| record.write(row, fields));
    }
}

impl LogLevel {
    /// Returns the greatest level that does not exceed a severity of OpenTelemetry, 1 to 24.
    pub fn of_severity(severity: u8) -> Self {
        match severity {
            0..5 => Self::Trace,
            5..9 => Self::Debug,
            9..13 => Self::Info,
            13..17 => Self::Warn,
            17..21 => Self::Error,
            21.. => Self::Fatal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cut::FIELDS, generated::oasis::program::Field};
    use oasis_probe::{Reader, RowWriter, Sample};

    const RECORD: LogRecord<'_> = LogRecord {
        level: LogLevel::Warn,
        target: "plant::pump",
        message: "pressure is high",
        file: "src/pump.rs",
        line: 12,
        thread: "control",
        span: "turn:pump",
        cut: 0,
    };

    fn read(record: &LogRecord<'_>, fields: &[(&str, &str)]) -> LogProbe {
        let mut row = Vec::new();
        record.write(&mut RowWriter::new(&mut row), fields.iter().copied());
        let mut reader = Reader::new(&row, 0);
        let sample = LogProbe::read(&mut reader).unwrap();
        assert_eq!(reader.left(), 0);
        sample
    }

    #[test]
    fn a_record_is_a_sample() {
        let expected = LogProbe {
            level: LogLevel::Warn,
            target: "plant::pump".into(),
            message: "pressure is high".into(),
            file: "src/pump.rs".into(),
            line: 12,
            thread: "control".into(),
            span: "turn:pump".into(),
            fields: vec![Field { name: "bar".into(), value: "8.1".into() }],
            cut: 0,
        };
        assert_eq!(read(&RECORD, &[("bar", "8.1")]), expected);
    }

    #[test]
    fn a_long_record_is_cut_to_its_bounds_and_counts_the_cut_bytes() {
        let long = "x".repeat(100_000);
        let record = LogRecord {
            target: &long,
            message: &long,
            file: &long,
            thread: &long,
            span: &long,
            cut: 7,
            ..RECORD
        };
        let sample = read(&record, &[(long.as_str(), long.as_str()); 20]);
        assert!(sample.message.len() == MESSAGE && sample.message.ends_with('…'));
        assert!(sample.file.starts_with('…') && sample.span.starts_with('…'));
        assert_eq!(sample.fields.len(), FIELDS);
        let texts = [&sample.target, &sample.message, &sample.file, &sample.thread, &sample.span];
        let fields = sample.fields.iter().flat_map(|field| [&field.name, &field.value]);
        let kept: usize = texts.into_iter().chain(fields).map(|text| text.len() - '…'.len_utf8()).sum();
        assert_eq!(sample.cut as usize, 7 + 45 * long.len() - kept);
    }

    #[test]
    fn a_severity_between_two_levels_becomes_the_lower_one() {
        let levels = [0, 1, 4, 5, 9, 12, 13, 17, 21, 24, 255].map(LogLevel::of_severity).map(u8::from);
        assert_eq!(levels, [1, 1, 1, 5, 9, 9, 13, 17, 21, 21, 21]);
    }
}
