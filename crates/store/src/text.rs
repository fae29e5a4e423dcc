//! Text that people write into the catalogue: bounded, and nothing that would move a terminal's cursor.

/// Why a text is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// Nothing in it.
    #[error("{0} is empty: write something")]
    Empty(&'static str),
    /// Beyond its bound.
    #[error("{field} has {bytes} bytes, where {most} are allowed")]
    TooLong {
        /// Which text.
        field: &'static str,
        /// As it came.
        bytes: usize,
        /// Its bound.
        most: usize,
    },
    /// A control character, which shows nothing and may do much.
    #[error("{field} has the control character U+{code:04X} in it: leave it out")]
    Control {
        /// Which text.
        field: &'static str,
        /// Its code point.
        code: u32,
    },
}

/// Checks a name: one line, not empty.
pub fn check_name(field: &'static str, text: &str, most: usize) -> Result<(), BadText> {
    if text.trim().is_empty() {
        return Err(BadText::Empty(field));
    }
    check(field, text, most, |_| false)
}

/// Checks a text of any number of lines.
pub fn check_lines(field: &'static str, text: &str, most: usize) -> Result<(), BadText> {
    check(field, text, most, |character| matches!(character, '\n' | '\t'))
}

fn check(
    field: &'static str,
    text: &str,
    most: usize,
    is_allowed: impl Fn(char) -> bool,
) -> Result<(), BadText> {
    if text.len() > most {
        return Err(BadText::TooLong { field, bytes: text.len(), most });
    }
    match text.chars().find(|&character| character.is_control() && !is_allowed(character)) {
        Some(character) => Err(BadText::Control { field, code: character.into() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_people_write_is_taken_and_what_moves_a_cursor_is_not() {
        for name in ["soak 3", "<b>x</b>", "שלום", "\u{202e}evil", "=1+1", "..", "a/b", "'; DROP TABLE"] {
            assert_eq!(check_name("name", name, 64), Ok(()));
        }
        assert_eq!(check_name("name", " \u{a0}", 64), Err(BadText::Empty("name")));
        assert_eq!(check_name("name", "a\u{1b}[2J", 64), Err(BadText::Control { field: "name", code: 0x1b }));
        assert!(check_name("name", "a\nb", 64).is_err() && check_lines("notes", "a\n\tb", 64).is_ok());
        let long = BadText::TooLong { field: "notes", bytes: 66, most: 64 };
        assert_eq!(check_lines("notes", &"ä".repeat(33), 64), Err(long));
    }
}
