//! The bytes of one answer, compressed where the client wants that.

use super::source::Source;
use super::{gzip, json, zstd};
use crate::coding::Coding;
use crate::view::{Blobs, Integers, JsonForm};
use bytes::{BufMut, Bytes, BytesMut};
use oasis_dac::{EncodingId, Segment};
use oasis_wire::quantity::Offset;
use std::ops::Range;

/// Shared texts shorter than this are copied: a piece of its own costs more.
const MIN_SHARED_BYTES: usize = 4096;

/// Composition of pieces to one body.
#[derive(Debug, Clone)]
enum Seam {
    Identity,
    Gzip(gzip::Splice),
    /// Whether anything was written.
    Zstd(bool),
}

/// The state of an answer at a moment.
#[derive(Debug)]
pub struct Mark(Seam);

/// Collects what is written next.
#[derive(Debug)]
pub struct Output {
    form: JsonForm,
    seam: Seam,
    parts: Vec<Bytes>,
    tail: BytesMut,
    bytes: usize,
}

impl Output {
    /// An answer in this coding.
    pub fn new(coding: Coding, form: JsonForm) -> Self {
        let seam = match coding {
            Coding::Identity => Seam::Identity,
            Coding::Gzip => Seam::Gzip(gzip::Splice::default()),
            Coding::Zstd => Seam::Zstd(false),
        };
        Self { form, seam, parts: Vec::new(), tail: BytesMut::new(), bytes: 0 }
    }

    /// Returns its compression.
    pub fn coding(&self) -> Coding {
        match self.seam {
            Seam::Identity => Coding::Identity,
            Seam::Gzip(_) => Coding::Gzip,
            Seam::Zstd(_) => Coding::Zstd,
        }
    }

    /// Returns the state of the answer now that nothing is collected.
    pub fn mark(&self) -> Mark {
        Mark(self.seam.clone())
    }

    /// Discards everything that was collected since the mark.
    pub fn discard(&mut self, Mark(seam): Mark) {
        self.seam = seam;
        self.parts.clear();
        self.tail.clear();
        self.bytes = 0;
    }

    /// Bytes collected since the last [`Output::take`].
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// A text of this answer alone.
    pub fn own(&mut self, text: &[u8]) {
        let before = self.tail.len();
        match &mut self.seam {
            Seam::Identity => self.tail.put_slice(text),
            Seam::Gzip(splice) => {
                self.tail.put_slice(splice.head());
                splice.own(text, &mut self.tail);
            }
            Seam::Zstd(is_begun) => {
                *is_begun |= !text.is_empty();
                zstd::own(text, &mut self.tail);
            }
        }
        self.bytes += self.tail.len() - before;
    }

    /// Adds a segment's samples at the offsets `wanted`: encoded once for all readers at the log that want all of them.
    pub fn samples(&mut self, source: &Source, segment: &Segment, wanted: &Range<Offset>) {
        let (form, coding) = (self.form, self.coding());
        let make = |wanted: &Range<Offset>| {
            let text = json::samples(source, segment, wanted, form);
            match coding {
                Coding::Identity => text,
                Coding::Gzip => gzip::piece(&text),
                Coding::Zstd => zstd::piece(&text),
            }
        };
        let is_all = wanted.start <= segment.first() && wanted.end == segment.end();
        let text = match source {
            Source::Live(instance) if is_all => {
                instance
                    .log
                    .encoding(segment, encoding_id(form, coding), |_| make(&(segment.first()..segment.end())))
            }
            _ => make(wanted),
        };
        self.shared(text);
    }

    fn shared(&mut self, text: Bytes) {
        let text = match &mut self.seam {
            Seam::Gzip(splice) => {
                self.tail.put_slice(splice.head());
                splice.shared(&text)
            }
            Seam::Zstd(is_begun) => {
                *is_begun = true;
                text
            }
            Seam::Identity => text,
        };
        self.bytes += text.len();
        if text.len() < MIN_SHARED_BYTES {
            self.tail.put_slice(&text);
        } else {
            self.cut();
            self.parts.push(text);
        }
    }

    /// Ends the output.
    pub fn finish(&mut self) {
        match &mut self.seam {
            Seam::Gzip(splice) => {
                self.tail.put_slice(splice.head());
                self.tail.put_slice(&splice.trailer());
                self.bytes += 1;
            }
            Seam::Zstd(is_begun @ false) => {
                *is_begun = true;
                zstd::nothing(&mut self.tail);
                self.bytes += 1;
            }
            Seam::Zstd(true) | Seam::Identity => {}
        }
    }

    /// Returns the collected bytes.
    pub fn take(&mut self) -> Vec<Bytes> {
        self.cut();
        self.bytes = 0;
        std::mem::take(&mut self.parts)
    }

    fn cut(&mut self) {
        if !self.tail.is_empty() {
            self.parts.push(self.tail.split().freeze());
        }
    }
}

/// The topic log's number for an encoding of a segment.
fn encoding_id(form: JsonForm, coding: Coding) -> EncodingId {
    let coding = match coding {
        Coding::Identity => 0,
        Coding::Gzip => 1,
        Coding::Zstd => 2,
    };
    let is_string = u8::from(form.integers == Integers::String);
    let is_base64 = u8::from(form.blobs == Blobs::Base64);
    EncodingId(6 * is_base64 + 2 * coding + is_string)
}
