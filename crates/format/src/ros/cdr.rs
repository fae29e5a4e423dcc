//! Decodes a message to the row of a sample: numbers of both byte orders, in both versions of XCDR.

use super::{
    Layout,
    absent::AbsentValues,
    extensibility::Extensibility,
    layout::{Ambiguities, Elements, Fields, Kind, Member, Size, Union},
    parameters::{self, Parameters},
    wide_text::WideForm,
};
use crate::input::{
    bounds::{MAX_MESSAGE, MAX_ROW},
    json::values::Step,
};
use oasis_wire::{
    cdr::{ByteOrder, CdrReader},
    reader::Malformed,
    schema::MAX_MEMBERS,
    value::RowWriter,
};
use std::io::Read;

/// Bytes in front of a message: two for its encoding, two for options.
const HEADER_BYTES: usize = 4;
/// The beginning of a frame of zstd.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes that may follow the last field.
const PADDING: usize = 7;

/// A message that does not match its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadCdr {
    /// Too short for its head.
    #[error("it has {0} bytes, and {HEADER_BYTES} are its header")]
    Short(usize),
    /// Another encoding.
    #[error(
        "its encoding 0x{0:04x} is not supported: only CDR (0x0000 to 0x0003) and XCDR2 (0x0006 to 0x000b) are"
    )]
    Encoding(u16),
    /// Content that is longer than the length before it.
    #[error("at byte {at}: the content is longer than its length")]
    Delimiter {
        /// The end of the content.
        at: usize,
    },
    /// A member of another version of the type, without which the message means something else.
    #[error("its definition lacks the member {0}, which readers must understand")]
    MustUnderstand(u32),
    /// More members than a type can have.
    #[error("it has more than {MAX_MEMBERS} members")]
    Parameters,
    /// No parameter instead of an optional member.
    #[error("at byte {at}: no optional member")]
    NoParameter {
        /// Its place.
        at: usize,
    },
    /// Not of zstd, although it begins so.
    #[error("it is compressed, and damaged")]
    Compressed,
    /// Too long when unpacked.
    #[error("it has more than {MAX_MESSAGE} bytes when unpacked")]
    Unpacked,
    /// Truncated, or with wrong lengths.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// Too long.
    #[error("{0} bytes follow its last field")]
    Longer(usize),
    /// Does not fit into a batch.
    #[error("a sample has more than {MAX_ROW} bytes")]
    Row,
}

impl Layout {
    /// Decodes a message into a row, which is cleared before.
    ///
    /// # Errors
    /// If the message does not match, or the row is too long.
    pub fn decode(&self, message: &[u8], row: &mut Vec<u8>) -> Result<(), BadCdr> {
        // No header of CDR begins like this.
        if message.starts_with(&ZSTD_MAGIC) {
            return self.decode_unpacked(&unpacked(message)?, row);
        }
        self.decode_unpacked(message, row)
    }

    fn decode_unpacked(&self, message: &[u8], row: &mut Vec<u8>) -> Result<(), BadCdr> {
        if self.ambiguities == Ambiguities::default() {
            return self.decode_as(Form::default(), message, row).map(drop);
        }
        // The form after which the fewest bytes are left, among those that the message fits.
        let mut best: Option<(usize, Form)> = None;
        let mut error = None;
        for form in Form::possible(self.ambiguities) {
            match self.decode_as(form, message, row) {
                Ok(left) if best.is_none_or(|(least, _)| left < least) => best = Some((left, form)),
                Ok(_) => {}
                Err(bad) => error = error.or(Some(bad)),
            }
        }
        match (best, error) {
            (Some((_, form)), _) => self.decode_as(form, message, row).map(drop),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(()),
        }
    }

    /// Returns the number of bytes after the last field, and after the values of parameters.
    fn decode_as(&self, form: Form, message: &[u8], row: &mut Vec<u8>) -> Result<usize, BadCdr> {
        row.clear();
        let (head, content) =
            message.split_first_chunk::<HEADER_BYTES>().ok_or(BadCdr::Short(message.len()))?;
        let encoding = Encoding::of(u16::from_be_bytes([head[0], head[1]]))?;
        let from = CdrReader::new(content, 0, encoding.order);
        let absent = AbsentValues::of(self);
        let mut decoding = Decoding { from, encoding, form, row, absent, left_within: 0 };
        decoding.message(&self.fields)?;
        let left = decoding.from.bytes.left();
        let all_left = left + decoding.left_within;
        if left > PADDING {
            return Err(BadCdr::Longer(left));
        }
        if let Some(absent) = decoding.absent {
            absent.write(row);
        }
        Ok(all_left)
    }
}

/// Unpacks a message that `ros2 bag record --compression-mode message` has compressed.
fn unpacked(message: &[u8]) -> Result<Vec<u8>, BadCdr> {
    let mut content = Vec::new();
    let mut decoder = zstd::Decoder::with_buffer(message).map_err(|_| BadCdr::Compressed)?;
    // A frame chooses the memory of its decoder: no message needs more than its bound.
    decoder.window_log_max(MAX_MESSAGE.ilog2() + 1).map_err(|_| BadCdr::Compressed)?;
    let read = decoder.take(MAX_MESSAGE as u64 + 1).read_to_end(&mut content);
    match read {
        Ok(bytes) if bytes > MAX_MESSAGE => Err(BadCdr::Unpacked),
        Ok(_) => Ok(content),
        Err(_) => Err(BadCdr::Compressed),
    }
}

/// The encoding that the header of a message names (DDSI-RTPS 2.5, 10.2; DDS-XTypes 1.3, 7.6.2.1.2).
#[derive(Debug, Clone, Copy)]
struct Encoding {
    order: ByteOrder,
    /// The second version of XCDR: 8 bytes are aligned to 4, and lengths precede arrays and sequences of other than numbers.
    is_second: bool,
    /// The extensibility of types whose definition does not say it.
    extensibility: Extensibility,
}

impl Encoding {
    fn of(number: u16) -> Result<Self, BadCdr> {
        let order = if number & 1 == 0 { ByteOrder::Big } else { ByteOrder::Little };
        let (is_second, extensibility) = match number {
            0x0000 | 0x0001 => (false, Extensibility::Final),
            0x0002 | 0x0003 => (false, Extensibility::Mutable),
            0x0006 | 0x0007 => (true, Extensibility::Final),
            0x0008 | 0x0009 => (true, Extensibility::Appendable),
            0x000a | 0x000b => (true, Extensibility::Mutable),
            other => return Err(BadCdr::Encoding(other)),
        };
        Ok(Self { order, is_second, extensibility })
    }
}

/// The choices that implementations of CDR make in different ways.
#[derive(Debug, Clone, Copy)]
struct Form {
    wide_text: WideForm,
    /// Whether the length of an array or a sequence of enums precedes it in XCDR2, as of one of structs.
    has_enum_length: bool,
    /// The extensibility of types whose definition does not say it; none if the encoding does.
    unannotated: Option<Extensibility>,
}

impl Default for Form {
    fn default() -> Self {
        Self { wide_text: WideForm::FourBytes, has_enum_length: true, unannotated: None }
    }
}

impl Form {
    fn possible(ambiguities: Ambiguities) -> impl Iterator<Item = Self> {
        let wide_texts = if ambiguities.has_wide_text { &WideForm::ALL[..] } else { &WideForm::ALL[..1] };
        let enum_lengths = if ambiguities.has_enum_elements { &[true, false][..] } else { &[true][..] };
        // A wrong length is found, so that this is tried first.
        let unannotated = match ambiguities.has_unannotated_types {
            true => &[Some(Extensibility::Appendable), Some(Extensibility::Final)][..],
            false => &[None][..],
        };
        wide_texts.iter().flat_map(move |wide_text| {
            enum_lengths.iter().flat_map(move |has_enum_length| {
                unannotated.iter().map(|unannotated| Self {
                    wide_text: *wide_text,
                    has_enum_length: *has_enum_length,
                    unannotated: *unannotated,
                })
            })
        })
    }
}

/// A message while it is decoded.
struct Decoding<'a, 'r, 'l> {
    from: CdrReader<'a>,
    encoding: Encoding,
    form: Form,
    row: &'r mut Vec<u8>,
    absent: Option<AbsentValues<'l>>,
    /// Bytes after the values of parameters: a form that leaves fewer fits better.
    left_within: usize,
}

impl<'a> Decoding<'a, '_, '_> {
    fn message(&mut self, fields: &Fields) -> Result<(), BadCdr> {
        let extensibility = self.extensibility(fields.extensibility);
        if extensibility == Extensibility::Mutable {
            return self.mutable(fields);
        }
        let is_delimited = self.encoding.is_second && extensibility == Extensibility::Appendable;
        self.delimited(is_delimited, |decoding| {
            if fields.members.is_empty() {
                decoding.from.bytes.take(1)?;
            }
            decoding.each(&fields.members, 0, |decoding, _, member| match member.is_optional {
                true => decoding.optional(&member.kind),
                false => decoding.value(&member.kind),
            })
        })
    }

    fn extensibility(&self, stated: Option<Extensibility>) -> Extensibility {
        stated.or(self.form.unannotated).unwrap_or(self.encoding.extensibility)
    }

    /// Reads members in their order. `first` is the place of the first one among the metrics of the message.
    fn each(
        &mut self,
        members: &[Member],
        first: usize,
        mut read: impl FnMut(&mut Self, usize, &Member) -> Result<(), BadCdr>,
    ) -> Result<(), BadCdr> {
        let mut metric = first;
        for (at, member) in members.iter().enumerate() {
            self.step(Step::Member(metric), |decoding| read(decoding, at, member))?;
            metric += usize::from(member.has_value);
        }
        Ok(())
    }

    /// Reads a value within another one.
    fn step(&mut self, step: Step, read: impl FnOnce(&mut Self) -> Result<(), BadCdr>) -> Result<(), BadCdr> {
        if let Some(absent) = &mut self.absent {
            absent.enter(step);
        }
        read(self)?;
        if let Some(absent) = &mut self.absent {
            absent.leave();
        }
        Ok(())
    }

    /// Reads the members of a mutable type.
    fn mutable(&mut self, fields: &Fields) -> Result<(), BadCdr> {
        let mut parameters = match self.encoding.is_second {
            true => Parameters::read_second(&mut self.from, self.encoding.order)?,
            false => Parameters::read_first(&mut self.from)?,
        };
        self.each(&fields.members, 0, |decoding, _, member| match parameters.take(member.id) {
            Some(content) => decoding.within(content, &member.kind),
            None => decoding.absent(&member.kind),
        })?;
        parameters.finish()
    }

    /// Reads a member that may be absent: a boolean says so in XCDR2, its length in XCDR1.
    fn optional(&mut self, kind: &Kind) -> Result<(), BadCdr> {
        if self.encoding.is_second {
            return match self.from.number::<1>()? {
                [0] => self.absent(kind),
                _ => self.value(kind),
            };
        }
        match parameters::optional(&mut self.from)? {
            Some(content) => self.within(content, kind),
            None => self.absent(kind),
        }
    }

    /// Reads a value with bytes of its own, from which its alignment counts.
    fn within(&mut self, content: &'a [u8], kind: &Kind) -> Result<(), BadCdr> {
        let own = CdrReader::new(content, 0, self.encoding.order);
        let outer = std::mem::replace(&mut self.from, own);
        self.value(kind)?;
        self.left_within += self.from.bytes.left();
        self.from = outer;
        Ok(())
    }

    /// Reads the discriminator of a union and the member that it chooses.
    fn union(&mut self, of: &Union) -> Result<(), BadCdr> {
        let extensibility = self.extensibility(of.extensibility);
        let is_delimited = self.encoding.is_second && extensibility == Extensibility::Appendable;
        self.delimited(is_delimited, |decoding| {
            let start = decoding.row.len();
            decoding.step(Step::Member(0), |decoding| decoding.value(&of.discriminator))?;
            let active = of.case(number(decoding.row.get(start..).unwrap_or_default()));
            decoding.each(&of.cases, 1, |decoding, at, case| match active == Some(at) {
                true => decoding.value(&case.kind),
                false => decoding.absent(&case.kind),
            })
        })
    }

    /// Writes a placeholder and notes that it is one. NaN needs no note.
    fn absent(&mut self, kind: &Kind) -> Result<(), BadCdr> {
        if self.row.len() > MAX_ROW {
            return Err(BadCdr::Row);
        }
        match kind {
            Kind::Real(Size::Four) => self.row.extend(f32::NAN.to_le_bytes()),
            Kind::Real(_) => self.row.extend(f64::NAN.to_le_bytes()),
            Kind::Message(fields) => {
                return self.each(&fields.members, 0, |decoding, _, member| decoding.absent(&member.kind));
            }
            Kind::Union(of) => {
                self.step(Step::Member(0), |decoding| decoding.absent(&of.discriminator))?;
                return self.each(&of.cases, 1, |decoding, _, case| decoding.absent(&case.kind));
            }
            Kind::Fixed(_, elements) | Kind::Sequence(elements) if elements.are_nothing => {}
            Kind::Number(size) | Kind::Enum(size) => {
                self.row.extend_from_slice(&[0; 8][..size.bytes()]);
                self.note_absent()?;
            }
            // An empty text, an empty vector, or false.
            Kind::Boolean | Kind::Text | Kind::WideText | Kind::Fixed(..) | Kind::Sequence(_) => {
                self.row.push(0);
                self.note_absent()?;
            }
        }
        Ok(())
    }

    fn note_absent(&mut self) -> Result<(), BadCdr> {
        self.absent.as_mut().map_or(Ok(()), AbsentValues::add)
    }

    /// Reads content whose length may precede it. What a later version of its type added is skipped.
    fn delimited(
        &mut self,
        is_delimited: bool,
        read: impl FnOnce(&mut Self) -> Result<(), BadCdr>,
    ) -> Result<(), BadCdr> {
        if !is_delimited {
            return read(self);
        }
        let length = usize::try_from(self.from.u32()?).unwrap_or(usize::MAX);
        let end = self.from.bytes.at().saturating_add(length);
        read(self)?;
        let at = self.from.bytes.at();
        let rest = end.checked_sub(at).ok_or(BadCdr::Delimiter { at })?;
        self.from.bytes.take(rest)?;
        Ok(())
    }

    fn value(&mut self, kind: &Kind) -> Result<(), BadCdr> {
        if self.row.len() > MAX_ROW {
            return Err(BadCdr::Row);
        }
        match kind {
            Kind::Number(size) | Kind::Real(size) | Kind::Enum(size) => self.number(*size)?,
            Kind::Boolean => self.row.push(u8::from(self.from.number::<1>()? != [0])),
            Kind::Text => self.text()?,
            Kind::WideText => {
                let count = self.from.u32()?;
                let is_little = self.encoding.order == ByteOrder::Little;
                let text = self.form.wide_text.read(count, is_little, &mut self.from.bytes)?;
                RowWriter::new(self.row).string(&text);
            }
            Kind::Message(fields) => self.message(fields)?,
            Kind::Union(of) => self.union(of)?,
            Kind::Fixed(count, of) => {
                self.delimited(self.has_length(of), |decoding| decoding.array(*count, of))?;
            }
            Kind::Sequence(of) => self.delimited(self.has_length(of), |decoding| {
                let count = decoding.from.u32()?;
                decoding.elements(count, of)
            })?,
        }
        Ok(())
    }

    /// Whether the length of an array or a sequence precedes it (DDS-XTypes 1.3, 7.4.3.5.3, rules 9 and 12).
    fn has_length(&self, of: &Elements) -> bool {
        self.encoding.is_second
            && match &*of.of {
                Kind::Enum(_) => self.form.has_enum_length,
                kind => !is_number(kind),
            }
    }

    /// Reads an array. One of several dimensions has one length.
    fn array(&mut self, count: u32, of: &Elements) -> Result<(), BadCdr> {
        let Kind::Fixed(inner, inner_elements) = &*of.of else { return self.elements(count, of) };
        let count = self.begin(count, of)?;
        (0..count).try_for_each(|at| {
            self.step(Step::Element(at), |decoding| decoding.array(*inner, inner_elements))
        })
    }

    /// Each element takes a byte of the message at least, so that a wrong number ends at its end.
    fn elements(&mut self, count: u32, elements: &Elements) -> Result<(), BadCdr> {
        let count = self.begin(count, elements)?;
        match &*elements.of {
            Kind::Number(size) | Kind::Real(size) => self.numbers(count, *size),
            kind => {
                (0..count).try_for_each(|at| self.step(Step::Element(at), |decoding| decoding.value(kind)))
            }
        }
    }

    /// Reads numbers that follow each other.
    fn numbers(&mut self, count: usize, size: Size) -> Result<(), BadCdr> {
        if count == 0 {
            return Ok(());
        }
        let bytes = count.saturating_mul(size.bytes());
        self.align(size)?;
        let numbers = self.from.bytes.take(bytes)?;
        if self.row.len() + bytes > MAX_ROW {
            return Err(BadCdr::Row);
        }
        match self.encoding.order {
            ByteOrder::Little => self.row.extend_from_slice(numbers),
            ByteOrder::Big => {
                numbers.chunks(size.bytes()).for_each(|number| self.row.extend(number.iter().rev()));
            }
        }
        Ok(())
    }

    /// Writes the number of elements.
    fn begin(&mut self, count: u32, elements: &Elements) -> Result<usize, BadCdr> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > self.from.bytes.left() {
            return Err(Malformed::Elements { at: self.from.bytes.at() }.into());
        }
        if self.row.len() > MAX_ROW {
            return Err(BadCdr::Row);
        }
        if !elements.are_nothing {
            RowWriter::new(self.row).vector(count);
        }
        Ok(count)
    }

    fn number(&mut self, size: Size) -> Result<(), BadCdr> {
        match size {
            Size::One => self.row.extend(self.from.number::<1>()?),
            Size::Two => self.row.extend(self.from.number::<2>()?),
            Size::Four => self.row.extend(self.from.number::<4>()?),
            Size::Eight => {
                self.align(size)?;
                let mut bytes = self.from.bytes.array::<8>()?;
                if self.encoding.order == ByteOrder::Big {
                    bytes.reverse();
                }
                self.row.extend(bytes);
            }
        }
        Ok(())
    }

    /// Skips to the alignment of a number: of 4 bytes at most in XCDR2.
    fn align(&mut self, size: Size) -> Result<(), BadCdr> {
        let most = if self.encoding.is_second { 4 } else { 8 };
        Ok(self.from.bytes.align(size.bytes().min(most))?)
    }

    /// A length with the NUL, the bytes, the NUL. ROS 2 does not say which encoding the bytes have.
    fn text(&mut self) -> Result<(), BadCdr> {
        let length = usize::try_from(self.from.u32()?).unwrap_or(usize::MAX);
        let bytes = self.from.bytes.take(length)?;
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        RowWriter::new(self.row).string(&String::from_utf8_lossy(bytes));
        Ok(())
    }
}

/// The number of a discriminator's bytes.
fn number(little_endian: &[u8]) -> u64 {
    little_endian.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Numbers and booleans, and arrays of them within an array.
fn is_number(kind: &Kind) -> bool {
    match kind {
        Kind::Number(_) | Kind::Real(_) | Kind::Boolean => true,
        Kind::Fixed(_, elements) => is_number(&elements.of),
        Kind::Enum(_)
        | Kind::Text
        | Kind::WideText
        | Kind::Message(_)
        | Kind::Union(_)
        | Kind::Sequence(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::{
        reader::Reader,
        schema::Metric,
        value::{self, Value},
    };

    fn read(text: &str, message: &[u8]) -> Result<Vec<Value>, BadCdr> {
        let layout = Layout::read("a/msg/A", text.as_bytes()).unwrap();
        let mut row = Vec::new();
        layout.decode(message, &mut row)?;
        let mut from = Reader::new(&row, 0);
        let values = layout.metrics.iter().map(|Metric { kind, .. }| value::read(kind, &mut from).unwrap());
        let values = values.collect();
        assert_eq!(from.left(), 0);
        Ok(values)
    }

    #[test]
    fn numbers_are_aligned_in_both_byte_orders() {
        let text = "uint8 a\nfloat64 b\nint16 c\nuint32 d";
        let expected = [Value::Uint(1), Value::Real64(1.5), Value::Int(-2), Value::Uint(3)];
        let mut little = vec![0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        little.extend(1.5_f64.to_le_bytes());
        little.extend([0xfe, 0xff, 0, 0, 3, 0, 0, 0]);
        assert_eq!(read(text, &little).unwrap(), expected);
        let mut big = vec![0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        big.extend(1.5_f64.to_be_bytes());
        big.extend([0xff, 0xfe, 0, 0, 0, 0, 0, 3]);
        assert_eq!(read(text, &big).unwrap(), expected);
    }

    #[test]
    fn empty_messages_are_a_byte_and_no_value() {
        let text = "Empty one\nEmpty[] many\nuint8 x\n===\nMSG: a/Empty\nint8 NONE=0\n";
        let message = [0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 7];
        assert_eq!(read(text, &message).unwrap(), [Value::Uint(7)]);
    }

    #[test]
    fn texts_may_be_empty_without_a_nul_or_not_utf_8() {
        let text = "string[] x";
        let message = [0, 1, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xff, 0];
        let texts = ["", "", "\u{fffd}"].map(|text| Value::String(text.into())).to_vec();
        assert_eq!(read(text, &message).unwrap(), [Value::Vector(texts)]);
    }

    #[test]
    fn the_second_version_aligns_to_four_bytes_and_has_lengths() {
        let message = [0, 9, 0, 0, 13, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 7, 99];
        let expected = [Value::Uint(1), Value::Real64(1.5), Value::Uint(7)];
        assert_eq!(read("uint8 a\nfloat64 b\nuint8 c", &message).unwrap(), expected);
        // A member that a later version of the type added.
        let mut longer = message;
        longer[4] = 14;
        assert_eq!(read("uint8 a\nfloat64 b\nuint8 c", &longer).unwrap(), expected);
        let mut shorter = message;
        shorter[4] = 12;
        let error = read("uint8 a\nfloat64 b\nuint8 c", &shorter);
        assert_eq!(error, Err(BadCdr::Delimiter { at: 17 }));
        let texts = [0, 7, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'x', 0];
        let expected = Value::Vector(vec![Value::String(String::new()), Value::String("x".into())]);
        assert_eq!(read("string[] x", &texts).unwrap(), [expected]);
    }

    #[test]
    fn a_compressed_message_is_unpacked_within_the_bound() {
        let packed = |message: &[u8]| zstd::encode_all(message, 0).unwrap();
        assert_eq!(read("uint8 x", &packed(&[0, 1, 0, 0, 7])).unwrap(), [Value::Uint(7)]);
        assert_eq!(read("uint8 x", &packed(&vec![0; MAX_MESSAGE + 1])), Err(BadCdr::Unpacked));
        assert_eq!(read("uint8 x", &packed(&[0; 100])[..9]), Err(BadCdr::Compressed));
    }

    #[test]
    fn wide_text_is_read_in_each_form() {
        let text = "wstring a\nuint8 b\nwstring c";
        let expected = [Value::String("a\u{1f600}".into()), Value::Uint(7), Value::String("xyz".into())];
        let units: Vec<u16> = "a\u{1f600}".encode_utf16().collect();
        let message = |width: usize, count: u32| {
            let mut message = vec![0, 1, 0, 0];
            let mut add = |units: &[u16]| {
                let of_count = u32::try_from(units.len()).unwrap() * count;
                message.extend(of_count.to_le_bytes());
                units.iter().for_each(|unit| message.extend(&u32::from(*unit).to_le_bytes()[..width]));
            };
            add(&units);
            message.push(7);
            while message.len() % 4 != 0 {
                message.push(0);
            }
            let xyz: Vec<u16> = "xyz".encode_utf16().collect();
            message.extend((3 * count).to_le_bytes());
            xyz.iter().for_each(|unit| message.extend(&u32::from(*unit).to_le_bytes()[..width]));
            message
        };
        for (width, count) in [(4, 1), (2, 1), (2, 2)] {
            assert_eq!(read(text, &message(width, count)).unwrap(), expected, "{width} {count}");
        }
        assert_eq!(read("wstring x", &[0, 1, 0, 0, 0, 0, 0, 0]).unwrap(), [Value::String(String::new())]);
    }

    /// Reads a message of a type in IDL; the last value names the absent ones.
    fn read_idl(text: &str, message: &[u8]) -> Result<Vec<Value>, BadCdr> {
        let layout = Layout::read_idl("A", text.as_bytes()).unwrap();
        let mut row = Vec::new();
        layout.decode(message, &mut row)?;
        let mut from = Reader::new(&row, 0);
        let values = layout.metrics.iter().map(|metric| value::read(&metric.kind, &mut from).unwrap());
        let values = values.collect();
        assert_eq!(from.left(), 0);
        Ok(values)
    }

    fn texts(texts: &[&str]) -> Value {
        Value::Vector(texts.iter().map(|text| Value::String((*text).into())).collect())
    }

    #[test]
    fn members_of_mutable_types_come_in_any_order_or_not_at_all() {
        let text = "@mutable struct A { @id(1) octet a; @id(2) string b; @id(3) short c; };";
        // The short form of XCDR1, with an unknown member, padding, and a parameter without a meaning.
        let first = [
            0, 3, 0, 0, 3, 0, 2, 0, 0xfe, 0xff, 0, 0, 3, 0x3f, 4, 0, 9, 9, 9, 9, 0x32, 0, 1, 0, 7, 0, 0, 0,
            1, 0, 1, 0, 5, 0, 0, 0, 2, 0x7f, 0, 0,
        ];
        let expected = [Value::Uint(5), Value::String(String::new()), Value::Int(-2), texts(&["b"])];
        assert_eq!(read_idl(text, &first).unwrap(), expected);
        // XCDR2: the length of a text is that of its parameter too.
        let second = [
            0, 11, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0x10, 0xfe, 0xff, 0, 0, 2, 0, 0, 0x50, 2, 0, 0, 0, b'x', 0, 0,
            0,
        ];
        let expected = [Value::Uint(0), Value::String("x".into()), Value::Int(-2), texts(&["a"])];
        assert_eq!(read_idl(text, &second).unwrap(), expected);
        let mut unknown = second;
        unknown[8] = 9;
        let expected = [Value::Uint(0), Value::String("x".into()), Value::Int(0), texts(&["a", "c"])];
        assert_eq!(read_idl(text, &unknown).unwrap(), expected);
        unknown[11] |= 0x80;
        assert_eq!(read_idl(text, &unknown), Err(BadCdr::MustUnderstand(9)));
        assert!(matches!(read_idl(text, &first[..36]), Err(BadCdr::Malformed(_))), "without its end");
        let long = [&[0, 11, 0, 0][..], &(8 * 70_000_u32).to_le_bytes(), &[0; 8 * 70_000]].concat();
        assert_eq!(read_idl(text, &long), Err(BadCdr::Parameters));
    }

    #[test]
    fn optional_members_have_a_boolean_or_a_length() {
        let text = "@final struct A { @optional long x; @optional double y; octet z; };";
        let second = [0, 7, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 9];
        let [x, y, z, absent] = &*read_idl(text, &second).unwrap() else { panic!() };
        assert_eq!((x, z, absent), (&Value::Int(5), &Value::Uint(9), &texts(&[])));
        assert!(matches!(y, Value::Real64(y) if y.is_nan()), "NaN needs no name");
        let first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 9];
        let expected = [Value::Int(0), Value::Real64(1.5), Value::Uint(9), texts(&["x"])];
        assert_eq!(read_idl(text, &first).unwrap(), expected);
        let mut end = first;
        (end[4], end[5]) = (2, 0x3f);
        assert_eq!(read_idl(text, &end), Err(BadCdr::NoParameter { at: 0 }));
    }

    #[test]
    fn a_union_has_the_member_of_its_discriminator() {
        let text =
            "union U switch (short) { case 1: octet x; case -2: string s; }; struct A { U u; octet z; };";
        let value = |discriminator: i64, x: u64, s: &str| {
            Value::Struct(vec![Value::Int(discriminator), Value::Uint(x), Value::String(s.into())])
        };
        let cases = [
            (vec![1, 0, 7, 9], value(1, 7, ""), texts(&["u.s"])),
            (vec![0xfe, 0xff, 0, 0, 2, 0, 0, 0, b'a', 0, 9], value(-2, 0, "a"), texts(&["u.x"])),
            (vec![5, 0, 9], value(5, 0, ""), texts(&["u.x", "u.s"])),
        ];
        for (content, expected, absent) in cases {
            let message = [&[0, 1, 0, 0], &content[..]].concat();
            assert_eq!(read_idl(text, &message).unwrap(), [expected, Value::Uint(9), absent]);
        }
    }

    #[test]
    fn names_of_absent_values_are_bounded() {
        let members: String = (0..200).map(|at| format!("@optional octet member_{at};")).collect();
        let text = format!("@final struct B {{ {members} }}; @final struct A {{ sequence<B> all; }};");
        let message =
            [&[0, 7, 0, 0][..], &200_004_u32.to_le_bytes(), &1_000_u32.to_le_bytes(), &[0; 200_000]].concat();
        assert_eq!(read_idl(&text, &message), Err(BadCdr::Row));
    }

    #[test]
    fn what_does_not_match_is_refused() {
        let head = [0, 1, 0, 0];
        let with = |content: &[u8]| [&head, content].concat();
        assert_eq!(read("int8 x", &[0, 1]), Err(BadCdr::Short(2)));
        assert_eq!(read("int8 x", &[0, 0x0c, 0, 0, 1]), Err(BadCdr::Encoding(0x0c)));
        assert_eq!(read("int8 x", &with(&[0; 9])), Err(BadCdr::Longer(8)));
        assert!(matches!(read("int8 x", &head), Err(BadCdr::Malformed(Malformed::Truncated { .. }))));
        let huge = with(&[0xff; 8]);
        assert!(matches!(read("Empty[] x\n===\nMSG: a/Empty", &huge), Err(BadCdr::Malformed(_))));
        assert!(matches!(read("string x", &huge), Err(BadCdr::Malformed(_))));
        assert!(matches!(read("int8[4294967295] x", &huge), Err(BadCdr::Malformed(_))));
        let long = with(&[&1_000_000_u32.to_le_bytes()[..], &[1; 1_000_000]].concat());
        assert_eq!(read("uint8[] x", &long), Err(BadCdr::Row));
    }
}
