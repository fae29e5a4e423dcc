//! Finds decimal mark and thousands separator of the numbers of a file.

use crate::input::{InputError, InputOptions, NumberForm, Thousands};

/// Texts that say that a number is absent.
const ABSENT_WORDS: [&[u8]; 15] = [
    b"NA",
    b"N/A",
    b"n/a",
    b"null",
    b"NULL",
    b"None",
    b"-",
    b"--",
    b"#N/A",
    b"#NA",
    b"<NA>",
    b"1.#IND",
    b"-1.#IND",
    b"1.#QNAN",
    b"-1.#QNAN",
];

/// Length of an example in a note.
const MAX_EXAMPLE_CHARACTERS: usize = 40;

/// Finds the notation of the numbers in the first records, or the one that the options choose.
///
/// # Errors
/// If the options choose one character for both.
pub fn find(
    records: &[Vec<String>],
    delimiter: u8,
    options: &InputOptions,
) -> Result<NumberForm, InputError> {
    let form = |thousands: Thousands| {
        let chosen = options.decimal_comma.or(thousands.has_comma());
        let has_comma = chosen.unwrap_or_else(|| has_decimal_comma(records, delimiter, thousands));
        NumberForm { has_comma, thousands }
    };
    let is_possible =
        |form: &NumberForm| form.thousands.has_comma().is_none_or(|comma| comma == form.has_comma);
    if let Some(thousands) = options.thousands {
        let form = form(thousands);
        if is_possible(&form) {
            return Ok(form);
        }
        let why = format!("the {} cannot be both decimal mark and thousands separator", thousands.name());
        return Err(InputError::file(why, "choose another one with --decimal or --thousands"));
    }
    let separated = Thousands::ALL.into_iter().map(form);
    let found = separated.filter(is_possible).find(|form| has_separators(records, delimiter, *form));
    Ok(found.unwrap_or_else(|| form(Thousands::None)))
}

/// Returns the separator of a number that has one, in whichever notation.
pub fn separator_of(field: &str) -> Option<Thousands> {
    Thousands::ALL.into_iter().find(|thousands| {
        let marks = thousands.has_comma().map_or([true, false], |mark| [mark; 2]);
        marks.into_iter().any(|has_comma| NumberForm { has_comma, thousands: *thousands }.is_grouped(field))
    })
}

/// Whether numbers have commas and none has a point.
fn has_decimal_comma(records: &[Vec<String>], delimiter: u8, thousands: Thousands) -> bool {
    let is_real = |has_comma: bool, mark: char| {
        let form = NumberForm { has_comma, thousands };
        let mut fields = records.iter().flatten().map(|field| field.trim());
        fields.any(|field| field.contains(mark) && form.parse(field.as_bytes()).is_some())
    };
    delimiter != b',' && is_real(true, ',') && !is_real(false, '.')
}

/// The numbers of a column, as far as they show whether it has thousands separators.
#[derive(Debug, Clone, Default)]
pub struct SeparatedNumbers {
    /// The first number with separators, without the end of a long one.
    pub example: Option<Box<str>>,
    /// Whether a number has separators and a decimal mark.
    has_mark: bool,
    /// Whether a number has two separators or more, and no decimal mark.
    has_many: bool,
    /// Whether a number has no separators.
    has_plain: bool,
}

impl SeparatedNumbers {
    /// Adds a field that may be a number.
    pub fn add(&mut self, form: NumberForm, field: &str) {
        if form.is_grouped(field) {
            let has_mark = field.contains(form.mark());
            self.has_mark |= has_mark;
            self.has_many |= !has_mark && form.separators(field) > 1;
            self.example.get_or_insert_with(|| field.chars().take(MAX_EXAMPLE_CHARACTERS).collect());
        } else if !self.has_plain {
            let has_digit = field.bytes().any(|byte| byte.is_ascii_digit());
            self.has_plain = has_digit && form.parse(field.as_bytes()).is_some();
        }
    }

    /// Whether they can be nothing else. `1,234` may have a decimal comma, `192.168.100.101` is an address, and `600 123 456` a telephone number.
    fn is_proof(&self, thousands: Thousands) -> bool {
        self.has_mark || (self.example.is_some() && self.has_plain && thousands.has_comma().is_none())
    }

    /// Whether they are numbers in a file whose other columns prove the separators.
    pub fn is_possible(&self, thousands: Thousands) -> bool {
        let is_single = !self.has_many && thousands.has_comma().is_some();
        self.example.is_none() || self.has_mark || self.has_plain || is_single
    }

    /// Whether they are numbers only if the separators of other columns are theirs.
    pub fn is_doubtful(&self, thousands: Thousands) -> bool {
        self.example.is_some() && !self.has_mark && thousands.has_comma().is_some()
    }
}

/// Whether a column has numbers that clearly have these separators and nothing but numbers, and no number of the file has another decimal mark.
fn has_separators(records: &[Vec<String>], delimiter: u8, form: NumberForm) -> bool {
    // A comma between fields is no decimal mark, unless quotation marks surround each number.
    if form.thousands == Thousands::None || (form.has_comma && delimiter == b',') {
        return false;
    }
    // The first record may have names.
    let rest = records.get(1..).filter(|rest| !rest.is_empty()).unwrap_or(records);
    let column = |at: usize| {
        let fields = rest.iter().filter_map(move |record| record.get(at)).map(|field| field.trim());
        fields.filter(|field| !field.is_empty())
    };
    let is_number = |field: &str| form.parse(field.as_bytes()).is_some() || is_absent_word(field.as_bytes());
    let is_proof = |at: usize| {
        let mut numbers = SeparatedNumbers::default();
        column(at).for_each(|field| numbers.add(form, field));
        numbers.is_proof(form.thousands) && column(at).all(is_number)
    };
    let width = rest.first().map_or(0, Vec::len);
    let (other, mark) = (NumberForm::with_mark(!form.has_comma), if form.has_comma { '.' } else { ',' });
    let contradicts = |field: &str| {
        field.contains(mark) && other.parse(field.as_bytes()).is_some() && !form.is_grouped(field)
    };
    (0..width).any(is_proof) && !rest.iter().flatten().any(|field| contradicts(field.trim()))
}

/// Whether a text says that a number is absent.
pub fn is_absent_word(text: &[u8]) -> bool {
    ABSENT_WORDS.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(columns: &[&str], delimiter: u8, options: &InputOptions) -> Result<NumberForm, InputError> {
        let names = vec!["x".to_owned()];
        let records = columns.iter().map(|field| vec![(*field).to_owned()]);
        find(&[vec![names], records.collect()].concat(), delimiter, options)
    }

    #[test]
    fn separators_are_found_if_they_can_be_nothing_else() {
        let comma = |thousands| NumberForm { has_comma: true, thousands };
        let point = |thousands| NumberForm { has_comma: false, thousands };
        for (fields, form) in [
            (&["1,234.5", "7"][..], point(Thousands::Comma)),
            (&["1,234,567", "1,234.5", "-"], point(Thousands::Comma)),
            (&["1.234,5", "12,5", "1.234"], comma(Thousands::Point)),
            (&["1 234,5", "7,25"], comma(Thousands::Space)),
            (&["1\u{202f}234.5", "7"], point(Thousands::Space)),
            (&["-1'234.5", "NaN"], point(Thousands::Apostrophe)),
            (&["1\u{2019}234", "0,5"], comma(Thousands::Apostrophe)),
            // Each of these has another meaning too.
            (&["1,234", "2,345"], comma(Thousands::None)),
            (&["1.234", "2.345"], point(Thousands::None)),
            (&["1,234.5", "1,5"], comma(Thousands::None)),
            (&["1.234,5", "0.25"], point(Thousands::None)),
            (&["1,234.5", "a text"], point(Thousands::None)),
            (&["12 34", "1 2345"], point(Thousands::None)),
            (&["1,234,567", "1,234", "12", "-"], comma(Thousands::None)),
            // Addresses, colors, versions and telephone numbers.
            (&["192.168.100.101", "192.168.100.102"], point(Thousands::None)),
            (&["255,128,100", "255,128,101"], point(Thousands::None)),
            (&["2.100.345", "2.100.346"], point(Thousands::None)),
            (&["600 123 456", "600 123 457"], point(Thousands::None)),
            (&["600'123", "NaN"], point(Thousands::None)),
        ] {
            assert_eq!(found(fields, b';', &InputOptions::default()).unwrap(), form, "{fields:?}");
        }
    }

    #[test]
    fn options_choose_the_separator() {
        let options = |thousands, decimal_comma| InputOptions {
            thousands: Some(thousands),
            decimal_comma,
            ..InputOptions::default()
        };
        let form = |thousands, decimal_comma| found(&["1,234"], b';', &options(thousands, decimal_comma));
        assert!(!form(Thousands::Comma, None).unwrap().has_comma);
        assert!(form(Thousands::Point, None).unwrap().has_comma);
        assert!(form(Thousands::Space, None).unwrap().has_comma);
        assert!(!form(Thousands::Space, Some(false)).unwrap().has_comma);
        let error = form(Thousands::Comma, Some(true)).unwrap_err().to_string();
        assert!(error.starts_with("the comma cannot be both") && error.contains("--thousands"), "{error}");
        let separated = found(&["1,234.5"], b';', &options(Thousands::None, None)).unwrap();
        assert_eq!(separated.thousands, Thousands::None);
    }
}
