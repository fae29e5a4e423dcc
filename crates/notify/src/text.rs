//! Text from outside: names of nodes and rules, messages, answers of servers. It may contain anything.

/// End of a text that was cut.
const CUT: char = '…';

/// Returns the text as one line without control characters and marks of direction, of at most this many bytes.
pub fn line(text: &str, most: usize) -> String {
    let plain = |character: char| {
        let is_mark = matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        if character.is_control() || is_mark { ' ' } else { character }
    };
    cut(text, most).chars().map(plain).collect()
}

/// Returns the text, of at most this many bytes.
pub fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(CUT.len_utf8());
    let end = (0..=room).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    let mut shorter = text.get(..end).unwrap_or_default().to_owned();
    shorter.push(CUT);
    shorter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_neither_line_ends_nor_marks_of_direction() {
        assert_eq!(line("a\r\nBcc: b\u{202e}c\u{2028}d\0e", 100), "a  Bcc: b c d e");
        assert_eq!(line("炉 3 °C", 100), "炉 3 °C");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("ééé", 6), "ééé");
        assert_eq!(cut("éééé", 6), "é…");
        assert!(cut(&"x".repeat(65_536), 200).len() <= 200);
    }
}
