//! `SpanProbe`: pieces of work of a program, and their durations.

use crate::{
    cut::{Cutter, Field, TARGET, THREAD},
    generated::oasis::program::{Outcome, SpanProbe},
    text_probe::TextProbe,
};
use oasis_probe::{NodeBuilder, NodeError, RowWriter};

/// Maximum bytes of the name of a span.
pub const NAME: usize = 128;

/// A span that has ended. Texts beyond their bounds are cut and counted.
#[derive(Debug, Clone, Copy)]
pub struct SpanRecord<'a> {
    /// The name of the work.
    pub name: &'a str,
    /// The logger or module that did it.
    pub target: &'a str,
    /// Nanoseconds from its start to its end.
    pub duration: u64,
    /// Nanoseconds in which a thread worked on it.
    pub busy: u64,
    /// Whether it failed.
    pub outcome: Outcome,
    /// The thread that ended it.
    pub thread: &'a str,
    /// Its number.
    pub id: u64,
    /// The number of the span around it, or 0.
    pub parent: u64,
    /// Bytes of its texts that the caller already cut.
    pub cut: u64,
}

impl SpanRecord<'_> {
    /// Writes its sample, with these further values.
    pub fn write<'f>(&self, row: &mut RowWriter<'_>, fields: impl ExactSizeIterator<Item = Field<'f>>) {
        let mut to = Cutter::new(row, self.cut);
        to.text(self.name, NAME);
        to.text(self.target, TARGET);
        to.row().u64(self.duration);
        to.row().u64(self.busy);
        to.row().u8(self.outcome.into());
        to.text(self.thread, THREAD);
        to.row().u64(self.id);
        to.row().u64(self.parent);
        to.fields(fields);
        to.finish();
    }
}

/// Takes spans from any thread and never waits. A span that finds no room is dropped and counted, and the DAC learns the count.
#[derive(Debug)]
pub struct Spans(TextProbe);

impl Spans {
    /// Adds the instance to a node, with a ring of `ring_bytes`. A span takes the bytes of its texts and about 80 more.
    ///
    /// # Errors
    /// The node already has an instance of this name.
    pub fn new(node: &mut NodeBuilder, instance: &str, ring_bytes: usize) -> Result<Self, NodeError> {
        TextProbe::new::<SpanProbe>(node, instance, ring_bytes).map(Self)
    }

    /// Whether the instance takes spans: a command can disable it.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.0.is_enabled()
    }

    /// Returns whether the node runs in another process, of which this one is a child: then nothing is taken.
    pub fn is_forked(&self) -> bool {
        self.0.is_forked()
    }

    /// Records a span that ended at `time`, in nanoseconds since 1970-01-01 UTC.
    pub fn ended<'f>(
        &self,
        time: u64,
        span: &SpanRecord<'_>,
        fields: impl ExactSizeIterator<Item = Field<'f>>,
    ) {
        self.0.flush(time, |row| span.write(row, fields));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::oasis::program::Field;
    use oasis_probe::{Reader, RowWriter, Sample};

    #[test]
    fn a_span_is_a_sample() {
        let record = SpanRecord {
            name: "step",
            target: "plant::pump",
            duration: 3_000,
            busy: 1_000,
            outcome: Outcome::Error,
            thread: "control",
            id: 8,
            parent: 7,
            cut: 1,
        };
        let mut row = Vec::new();
        record.write(&mut RowWriter::new(&mut row), [("number", "4")].into_iter());
        let mut reader = Reader::new(&row, 0);
        let expected = SpanProbe {
            name: "step".into(),
            target: "plant::pump".into(),
            duration: 3_000,
            busy: 1_000,
            outcome: Outcome::Error,
            thread: "control".into(),
            id: 8,
            parent: 7,
            fields: vec![Field { name: "number".into(), value: "4".into() }],
            cut: 1,
        };
        assert_eq!(SpanProbe::read(&mut reader).unwrap(), expected);
        assert_eq!(reader.left(), 0);
    }
}
