//! Texts as TypeScript writes them: strings and comments.

use super::layout::{INDENT, Layout, WIDTH, blanks};
use crate::text::{dedented, pieces, quoted};

/// Lines of a documentation comment, indented; none without a text.
pub fn comment(text: &str, indent: usize) -> String {
    let lines = dedented(text);
    let outer = blanks(indent);
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{outer}/** {} */", escaped(line)),
        lines => {
            let mut comment = format!("{outer}/**");
            for line in lines {
                let line = format!("\n{outer} * {}", escaped(line));
                comment += line.trim_end();
            }
            format!("{comment}\n{outer} */")
        }
    }
}

/// A string literal, in quotes as Biome prefers them.
pub fn literal(text: &str) -> String {
    quoted(text, '\'', '"')
}

/// Lines of a property that is a text, in pieces where it does not fit a line.
pub fn property(key: &str, text: &str, indent: usize) -> String {
    let inner = indent + INDENT;
    // Quotes at both ends, and a plus or a comma after them.
    let most = WIDTH - inner - 4;
    match pieces(text, most).as_slice() {
        [piece] => Layout::word(literal(piece)).property(indent, key),
        pieces => {
            let lines: Vec<String> = pieces.iter().map(|piece| literal(piece)).collect();
            let separator = format!(" +\n{}", blanks(inner));
            format!("{}{key}:\n{}{},", blanks(indent), blanks(inner), lines.join(&separator))
        }
    }
}

/// The text of a comment: neither its end nor control characters.
fn escaped(line: &str) -> String {
    let visible = |character: char| if character.is_control() { ' ' } else { character };
    line.replace("*/", "*\\/").chars().map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_repeats_the_documentation_in_pdl() {
        assert_eq!(comment("Says */ it.", 2), "  /** Says *\\/ it. */");
        assert_eq!(comment("One.\n\n  Two.\n", 2), "  /**\n   * One.\n   *\n   * Two.\n   */");
        assert_eq!(comment(" ", 0), "");
    }

    #[test]
    fn a_literal_takes_the_quotes_that_need_fewer_escapes() {
        assert_eq!(literal(r#"{"doc":"it's"}"#), r#"'{"doc":"it\'s"}'"#);
        assert_eq!(literal("it's"), "\"it's\"");
    }
}
