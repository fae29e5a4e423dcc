//! Cuts a batch out of another, for readers with a position in the middle of a batch.

use super::{Batch, Encoder, Fields, stamp};
use crate::{schema::ProbeType, value};
use alloc::vec::Vec;
use core::ops::Range;

/// The samples at these indexes, counted from 0, as a batch; `None` if the batch is invalid or has no such samples.
pub fn cut(bytes: &[u8], probe_type: &ProbeType, wanted: Range<usize>) -> Option<Vec<u8>> {
    let batch = Batch::parse(bytes, probe_type).ok()?;
    let header = batch.header();
    let first = batch.get(wanted.start)?;
    let mut encoder = Encoder::new(probe_type).ok()?;
    let mut row = Vec::new();
    for sample in wanted.clone().map_while(|index| batch.get(index)) {
        row.clear();
        value::write_row(probe_type, &sample.values, &mut row);
        encoder.push(sample.time, &row).ok()?;
    }
    if encoder.is_empty() {
        return None;
    }
    // Drops before omitted samples do not apply to the remaining ones.
    let dropped_before = if wanted.start == 0 { header.dropped_before } else { 0 };
    let fields = Fields {
        topic: header.topic,
        state: header.state,
        first_sequence: first.sequence,
        node_time: header.node_time,
        dropped_before,
    };
    let mut out = Vec::new();
    encoder.finish(fields, &mut out);
    stamp(&mut out, first.offset, header.dac_time);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn counter() -> ProbeType {
        let json = r#"{"name": "Counter", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
            "metrics": [{"name": "count", "type": "uint64"}, {"name": "load", "type": "real64"}]}"#;
        serde_json::from_str(json).unwrap()
    }

    fn whole(count: u64) -> Vec<u8> {
        let mut encoder = Encoder::new(&counter()).unwrap();
        for number in 0..count {
            let mut row = Vec::new();
            let mut writer = value::RowWriter::new(&mut row);
            writer.u64(number);
            writer.f64(number as f64 / 8.0);
            encoder.push(1_000 * number, &row).unwrap();
        }
        let mut batch = Vec::new();
        let fields = Fields { topic: 3, state: 2, first_sequence: 40, node_time: 99, dropped_before: 7 };
        encoder.finish(fields, &mut batch);
        stamp(&mut batch, 30, 500);
        batch
    }

    #[test]
    fn a_cut_has_the_samples_of_the_whole_batch() {
        let bytes = whole(5);
        let batch = Batch::parse(&bytes, &counter()).unwrap();
        let all: Vec<_> = batch.samples().collect();
        for (start, end) in [(0, 5), (0, 1), (1, 4), (4, 5), (2, 9)] {
            let cut = cut(&bytes, &counter(), start..end).unwrap();
            let cut = Batch::parse(&cut, &counter()).unwrap();
            assert_eq!(cut.samples().collect::<Vec<_>>(), all[start..end.min(5)]);
            let (header, before) = (cut.header(), batch.header());
            assert_eq!(header.dropped_before, if start == 0 { 7 } else { 0 });
            assert_eq!((header.topic, header.state), (before.topic, before.state));
            assert_eq!((header.node_time, header.dac_time), (before.node_time, before.dac_time));
        }
    }

    #[test]
    fn an_empty_range_or_an_invalid_batch_gives_no_cut() {
        let bytes = whole(5);
        let past_its_end = 5..9;
        for (bytes, wanted) in [(&bytes[..], past_its_end), (&bytes, 2..2), (&bytes[..50], 0..1), (&[], 0..1)]
        {
            assert_eq!(cut(bytes, &counter(), wanted), None);
        }
        assert_eq!(cut(&[0; 60], &counter(), 0..1), None);
    }
}
