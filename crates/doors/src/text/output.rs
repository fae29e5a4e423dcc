//! The bytes of one answer, compressed where the client wants that.

use super::{
    gzip::{self, Splice},
    json,
    query::{Coding, Integers},
};
use bytes::{BufMut, Bytes, BytesMut};
use oasis_dac::{Form, Instance, Segment};
use oasis_wire::quantity::Offset;

/// Shared texts shorter than this are copied: a piece of its own costs more.
const COPY: usize = 4096;

/// Collects what is written next.
#[derive(Debug)]
pub struct Output {
    integers: Integers,
    splice: Option<Splice>,
    parts: Vec<Bytes>,
    tail: BytesMut,
    bytes: usize,
}

impl Output {
    /// An answer in this coding.
    pub fn new(coding: Coding, integers: Integers) -> Self {
        let splice = (coding == Coding::Gzip).then(Splice::default);
        Self { integers, splice, parts: Vec::new(), tail: BytesMut::new(), bytes: 0 }
    }

    /// How it is compressed.
    pub fn coding(&self) -> Coding {
        if self.splice.is_some() { Coding::Gzip } else { Coding::Identity }
    }

    /// Bytes collected since the last [`Output::take`].
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// A text of this answer alone.
    pub fn own(&mut self, text: &[u8]) {
        let before = self.tail.len();
        match &mut self.splice {
            Some(splice) => {
                self.tail.put_slice(splice.head());
                splice.own(text, &mut self.tail);
            }
            None => self.tail.put_slice(text),
        }
        self.bytes += self.tail.len() - before;
    }

    /// A segment's samples from `wanted` on: made once for all readers who want all of it.
    pub fn samples(&mut self, instance: &Instance, segment: &Segment, wanted: Offset) {
        let integers = self.integers;
        let zipped = self.splice.is_some();
        let make = |wanted: Offset| {
            let text = json::samples(instance, segment, wanted, integers);
            if zipped { gzip::piece(&text) } else { text }
        };
        let text = if wanted <= segment.first() {
            instance.log.text(segment, form(integers, zipped), |_| make(segment.first()))
        } else {
            make(wanted)
        };
        self.shared(text);
    }

    fn shared(&mut self, text: Bytes) {
        let text = match &mut self.splice {
            Some(splice) => {
                self.tail.put_slice(splice.head());
                splice.shared(&text)
            }
            None => text,
        };
        self.bytes += text.len();
        if text.len() < COPY {
            self.tail.put_slice(&text);
        } else {
            self.cut();
            self.parts.push(text);
        }
    }

    /// Nothing follows.
    pub fn finish(&mut self) {
        if let Some(splice) = &mut self.splice {
            self.tail.put_slice(splice.head());
            self.tail.put_slice(&splice.trailer());
            self.bytes += 1;
        }
    }

    /// What was collected.
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

/// The topic log's number for what a segment looks like.
fn form(integers: Integers, zipped: bool) -> Form {
    Form(match (integers, zipped) {
        (Integers::Number, false) => 0,
        (Integers::String, false) => 1,
        (Integers::Number, true) => 2,
        (Integers::String, true) => 3,
    })
}
