//! Checks text that people write into the catalogue: bounded, without control characters that could affect a terminal.

/// Errors of a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// Empty.
    #[error("{0} must not be empty")]
    Empty(&'static str),
    /// Too long.
    #[error("{field} has {bytes} bytes: at most {most} are allowed")]
    TooLong {
        /// Its field.
        field: &'static str,
        /// Its length.
        bytes: usize,
        /// Its bound.
        most: usize,
    },
    /// A control character, which could affect a terminal.
    #[error("{field} contains the control character U+{code:04X}: remove it")]
    Control {
        /// Its field.
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
    fn any_text_is_accepted_except_control_characters() {
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
