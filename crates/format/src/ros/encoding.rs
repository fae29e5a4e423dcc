//! The encoding of a message in CDR: what its header says, and the forms among which its length decides.

use super::{bad_cdr::BadCdr, extensibility::Extensibility, layout::Ambiguities, wide_text::WideForm};
use oasis_wire::cdr::ByteOrder;

/// The encoding that the header of a message names (DDSI-RTPS 2.5, 10.2; DDS-XTypes 1.3, 7.6.2.1.2).
#[derive(Debug, Clone, Copy)]
pub struct Encoding {
    pub order: ByteOrder,
    /// The second version of XCDR: 8 bytes are aligned to 4, and lengths precede arrays and sequences of other than numbers.
    pub is_second: bool,
    /// The extensibility of types whose definition does not say it.
    pub extensibility: Extensibility,
}

impl Encoding {
    pub fn of(number: u16) -> Result<Self, BadCdr> {
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
pub struct Form {
    pub wide_text: WideForm,
    /// Whether the length of an array or a sequence of enums precedes it in XCDR2, as of one of structs.
    pub has_enum_length: bool,
    /// The extensibility of types whose definition does not say it; none if the encoding does.
    pub unannotated: Option<Extensibility>,
}

impl Default for Form {
    fn default() -> Self {
        Self { wide_text: WideForm::FourBytes, has_enum_length: true, unannotated: None }
    }
}

impl Form {
    pub fn possible(ambiguities: Ambiguities) -> impl Iterator<Item = Self> {
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
