//! Texts as Python writes them: strings and docstrings.

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

/// Lines without blank ones around them, those behind the first without what they are indented by together.
fn dedented(text: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        text.lines().map(|line| line.replace('\t', "    ").trim_end().to_owned()).collect();
    let blanks = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..blanks);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let indent = |line: &String| line.len() - line.trim_start_matches(' ').len();
    let common = lines.iter().skip(1).filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let dedented = |(index, line): (usize, &String)| match index {
        0 => line.trim_start().to_owned(),
        _ => line.get(common..).unwrap_or_default().to_owned(),
    };
    lines.iter().enumerate().map(dedented).collect()
}

/// What stands in a docstring: no quote at either end of a line, nor three in a row, nor a control character.
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

/// A string literal.
pub fn literal(text: &str) -> String {
    let count = |quote| text.chars().filter(|character| *character == quote).count();
    // As `ruff format` prefers them.
    let quote = if count('"') > count('\'') { '\'' } else { '"' };
    let mut literal = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => literal += "\\\\",
            same if same == quote => literal.extend(['\\', quote]),
            control if control.is_control() => literal += &escape(control),
            other => literal.push(other),
        }
    }
    literal.push(quote);
    literal
}

fn escape(control: char) -> String {
    format!("\\x{:02x}", u32::from(control))
}

/// Pieces of at most so many characters, cut behind commas as long as there are any.
pub fn pieces(text: &str, most: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for part in text.split_inclusive(',') {
        if !piece.is_empty() && piece.chars().count() + part.chars().count() > most {
            pieces.push(std::mem::take(&mut piece));
        }
        piece += part;
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_docstring_says_what_the_pdl_says() {
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

    #[test]
    fn pieces_end_at_commas() {
        assert_eq!(pieces("a,bb,ccc,ddddddd", 5), ["a,bb,", "ccc,", "ddddddd"]);
    }
}
