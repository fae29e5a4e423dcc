//! Escapes names for a terminal: control characters and marks that change the direction of text are shown, not interpreted.

use std::fmt::{self, Write};

/// Prints a text with its control characters, and the marks that change the direction of writing, as `\u{…}`.
#[derive(Debug, Clone, Copy)]
pub struct Visible<'a>(pub &'a str);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                write!(f, "{}", character.escape_unicode())
            }
            control if control.is_control() => write!(f, "{}", control.escape_unicode()),
            plain => f.write_char(plain),
        })
    }
}

/// Characters of a message, and of a name, that an error shows.
const MAX_SHOWN_CHARACTERS: usize = 40;

/// Shortens what is shown of a file.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(Visible("Ofen 3 °C, 炉").to_string(), "Ofen 3 °C, 炉");
        assert_eq!(Visible("\u{1b}[2J\n\u{9b}x\u{202e}y").to_string(), r"\u{1b}[2J\u{a}\u{9b}x\u{202e}y");
    }
}
