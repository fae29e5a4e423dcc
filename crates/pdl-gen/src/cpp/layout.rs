//! Where lines break: as clang-format has it in `sdk/cpp/.clang-format`.

/// Columns of a line.
pub const WIDTH: usize = 100;

/// Documentation as comment lines, what is too long broken between words.
pub fn comment(text: &str, indent: usize) -> Vec<String> {
    text.lines().flat_map(|line| comment_line(line.trim_end(), indent)).collect()
}

fn comment_line(text: &str, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = "///".to_owned();
    for word in text.split(' ') {
        let length = line.chars().count() + 1 + word.chars().count();
        if line.len() > "///".len() && indent + length > WIDTH {
            lines.push(std::mem::replace(&mut line, "///".to_owned()));
        }
        line.push(' ');
        line += word;
    }
    lines.push(line);
    lines.into_iter().map(|line| closed(line.trim_end())).collect()
}

/// A backslash at the end of a line would make the next line a part of the comment.
fn closed(line: &str) -> String {
    if line.ends_with('\\') || line.ends_with("??/") { format!("{line}.") } else { line.to_owned() }
}

/// `first && second && …`, lines behind the first indented by `indent`.
pub fn conjunction(terms: &[String], indent: usize) -> String {
    let mut lines = String::new();
    let mut column = indent;
    for (index, term) in terms.iter().enumerate() {
        // What stands behind a term: ` &&`, or the `;` of the last.
        let behind = if index + 1 == terms.len() { 1 } else { 3 };
        if index > 0 {
            let fits = column + " && ".len() + term.len() + behind <= WIDTH;
            lines += if fits { " && " } else { " &&\n" };
            column = if fits { column + " && ".len() } else { indent };
            lines += &" ".repeat(if fits { 0 } else { indent });
        }
        lines += term;
        column += term.len();
    }
    lines
}

/// A literal that needs no escapes, whatever the text.
pub fn raw_literal(text: &str) -> String {
    let mut delimiter = "json".to_owned();
    for number in 1.. {
        if !text.contains(&format!("){delimiter}\"")) {
            break;
        }
        delimiter = format!("json{number}");
    }
    format!("R\"{delimiter}({text}){delimiter}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_never_goes_on_in_the_next_line() {
        assert_eq!(
            comment("A path like C:\\\n\nand more  ", 0),
            ["/// A path like C:\\.", "///", "/// and more"]
        );
        let long = "word ".repeat(40);
        assert!(comment(&long, 2).iter().all(|line| line.len() <= WIDTH - 2));
        assert_eq!(comment(&long, 2).len(), 3);
    }

    #[test]
    fn a_text_cannot_end_its_literal() {
        assert_eq!(raw_literal("{}"), "R\"json({})json\"");
        assert_eq!(raw_literal(")json\" )json1\""), "R\"json2()json\" )json1\")json2\"");
    }
}
