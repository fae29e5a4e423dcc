//! Bounds of texts from programs. A text that exceeds its bound is cut and marked, and the cut bytes are counted.

use oasis_probe::RowWriter;
use std::fmt;

/// Marks the place of a cut.
pub const CUT_MARK: &str = "…";

/// Maximum fields of a record. Further fields count as cut.
pub const FIELDS: usize = 16;
/// Maximum bytes of the name of a field.
pub const FIELD_NAME: usize = 64;
/// Maximum bytes of the value of a field.
pub const FIELD_VALUE: usize = 256;
/// Maximum bytes of the name of a thread.
pub const THREAD: usize = 64;
/// Maximum bytes of a target.
pub const TARGET: usize = 128;

/// Name and value.
pub type Field<'a> = (&'a str, &'a str);

/// Writes bounded texts into a row and counts the bytes that it cuts.
pub struct Cutter<'a, 'row> {
    row: &'a mut RowWriter<'row>,
    /// Bytes cut so far.
    pub cut: u64,
}

impl<'a, 'row> Cutter<'a, 'row> {
    /// Returns a writer to `row` that starts its count at `cut`.
    pub fn new(row: &'a mut RowWriter<'row>, cut: u64) -> Self {
        Self { row, cut }
    }

    /// Writes a text of at most `bytes`; cuts its end.
    pub fn text(&mut self, text: &str, bytes: usize) {
        if text.len() <= bytes {
            return self.row.string(text);
        }
        let kept = &text[..boundary_before(text, bytes - CUT_MARK.len())];
        self.row.vector(kept.len() + CUT_MARK.len());
        self.row.packed(kept.as_bytes());
        self.row.packed(CUT_MARK.as_bytes());
        self.cut += (text.len() - kept.len()) as u64;
    }

    /// Writes a path of at most `bytes`; cuts its start, because the end identifies a file.
    pub fn path(&mut self, path: &str, bytes: usize) {
        if path.len() <= bytes {
            return self.row.string(path);
        }
        let kept = &path[boundary_after(path, path.len() - (bytes - CUT_MARK.len()))..];
        self.row.vector(CUT_MARK.len() + kept.len());
        self.row.packed(CUT_MARK.as_bytes());
        self.row.packed(kept.as_bytes());
        self.cut += (path.len() - kept.len()) as u64;
    }

    /// Writes a vector of fields.
    pub fn fields<'f>(&mut self, fields: impl ExactSizeIterator<Item = Field<'f>>) {
        let kept = fields.len().min(FIELDS);
        self.row.vector(kept);
        for (index, (name, value)) in fields.enumerate() {
            if index < kept {
                self.text(name, FIELD_NAME);
                self.text(value, FIELD_VALUE);
            } else {
                self.cut += (name.len() + value.len()) as u64;
            }
        }
    }

    /// Returns the row, for values that are not texts.
    pub fn row(&mut self) -> &mut RowWriter<'row> {
        self.row
    }

    /// Writes the count of cut bytes: the last metric of a record.
    pub fn finish(self) {
        self.row.u64(self.cut);
    }
}

/// A text under construction that never exceeds its bound.
#[derive(Debug)]
pub struct BoundedText {
    text: String,
    bytes: usize,
    cut: u64,
}

impl BoundedText {
    /// Returns an empty text of at most `bytes`, the mark included.
    pub fn new(bytes: usize) -> Self {
        Self { text: String::new(), bytes, cut: 0 }
    }

    /// Returns the text so far.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the number of cut bytes.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Removes the text and resets the count.
    pub fn clear(&mut self) {
        self.text.clear();
        self.cut = 0;
    }
}

impl fmt::Write for BoundedText {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        if self.cut > 0 {
            self.cut += more.len() as u64;
            return Ok(());
        }
        let whole = self.text.len() + more.len();
        if whole <= self.bytes {
            self.text.push_str(more);
            return Ok(());
        }
        let room = self.bytes - CUT_MARK.len();
        // The earlier text may reach into the room of the mark.
        self.text.push_str(&more[..boundary_before(more, room.saturating_sub(self.text.len()))]);
        self.text.truncate(boundary_before(&self.text, room));
        self.cut = (whole - self.text.len()) as u64;
        self.text.push_str(CUT_MARK);
        Ok(())
    }
}

/// Returns the last character boundary at or before `at`.
fn boundary_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Returns the first character boundary at or after `at`.
fn boundary_after(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_probe::Reader;
    use proptest::prelude::*;
    use std::fmt::Write;

    fn written(write: impl FnOnce(&mut Cutter<'_, '_>)) -> (String, u64) {
        let mut row = Vec::new();
        let mut to = RowWriter::new(&mut row);
        let mut cutter = Cutter::new(&mut to, 0);
        write(&mut cutter);
        let cut = cutter.cut;
        (Reader::new(&row, 0).string().unwrap().to_owned(), cut)
    }

    #[test]
    fn a_text_within_its_bound_is_kept() {
        assert_eq!(written(|to| to.text("12345678", 8)), ("12345678".into(), 0));
        assert_eq!(written(|to| to.path("12345678", 8)), ("12345678".into(), 0));
    }

    #[test]
    fn a_text_loses_its_end_and_a_path_its_start() {
        assert_eq!(written(|to| to.text("123456789", 8)), ("12345…".into(), 4));
        assert_eq!(written(|to| to.path("/a/b/c/src/main.rs", 14)), ("…src/main.rs".into(), 7));
    }

    #[test]
    fn fields_beyond_the_maximum_are_counted() {
        let fields = vec![("name", "value"); FIELDS + 2];
        let mut row = Vec::new();
        let mut to = RowWriter::new(&mut row);
        let mut cutter = Cutter::new(&mut to, 100);
        cutter.fields(fields.into_iter());
        assert_eq!(cutter.cut, 118);
        let mut reader = Reader::new(&row, 0);
        assert_eq!(reader.count().unwrap(), FIELDS);
    }

    proptest! {
        #[test]
        fn a_cut_text_fits_its_bound_and_the_count_is_exact(text in ".{0,40}", bytes in 4_usize..40) {
            for (kept, cut) in [written(|to| to.text(&text, bytes)), written(|to| to.path(&text, bytes))] {
                prop_assert!(kept.len() <= bytes);
                let mark = if cut > 0 { CUT_MARK.len() } else { 0 };
                prop_assert_eq!(kept.len() - mark + cut as usize, text.len());
            }
        }

        #[test]
        fn a_text_written_in_pieces_is_cut_like_a_whole_one(pieces in prop::collection::vec(".{0,9}", 0..9), bytes in 4_usize..40) {
            let mut bounded = BoundedText::new(bytes);
            for piece in &pieces {
                bounded.write_str(piece).unwrap();
            }
            let (kept, cut) = written(|to| to.text(&pieces.concat(), bytes));
            prop_assert_eq!((bounded.as_str(), bounded.cut()), (kept.as_str(), cut));
        }
    }
}
