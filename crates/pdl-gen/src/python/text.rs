//! Texts as Python writes them: strings and docstrings.

use crate::text::{dedented, escape, quoted};

/// The lines of a docstring, indented.
pub fn docstring(text: &str, indent: usize) -> String {
    let lines = dedented(text);
    let Some((first, rest)) = lines.split_first() else { return String::new() };
    let outer = " ".repeat(indent);
    let mut docstring = format!("{outer}\"\"\"{}", escaped(first));
    for line in rest {
        docstring.push('\n');
        if !line.is_empty() {
            docstring += &outer;
            docstring += &escaped(line);
        }
    }
    if !rest.is_empty() {
        docstring.push('\n');
        docstring += &outer;
    }
    docstring + "\"\"\""
}

/// The text of a docstring: no quote at either end of a line, nor three in a row, nor a control character.
fn escaped(line: &str) -> String {
    let mut escaped = String::new();
    let last = line.chars().count().saturating_sub(1);
    for (index, character) in line.chars().enumerate() {
        match character {
            '\\' => escaped += "\\\\",
            '"' if index == 0 || index == last || escaped.ends_with("\"\"") => escaped += "\\\"",
            control if control.is_control() => escaped += &escape(control),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A string literal, in quotes as `ruff format` prefers them.
pub fn literal(text: &str) -> String {
    quoted(text, '"', '\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_docstring_repeats_the_documentation_in_pdl() {
        assert_eq!(docstring("Says \"yes\"", 0), r#""""Says "yes\"""""#);
        assert_eq!(docstring(r#"""""\"#, 0), r#""""\""\""\\""""#);
        assert_eq!(
            docstring("\n One.\n\n   Two\n    three \n", 4),
            "    \"\"\"One.\n\n    Two\n     three\n    \"\"\""
        );
        assert_eq!(docstring("bell\u{7}", 0), r#""""bell\x07""""#);
        assert_eq!(docstring(" ", 0), "");
    }

    #[test]
    fn a_literal_takes_the_quotes_that_need_fewer_escapes() {
        assert_eq!(literal("it's"), "\"it's\"");
        assert_eq!(literal(r#"{"a":"it's\n"}"#), r#"'{"a":"it\'s\\n"}'"#);
    }
}
