//! Line breaks in the style of clang-format in `sdk/cpp/.clang-format`.

/// Columns of a line.
const WIDTH: usize = 100;

/// Documentation as comment lines, broken between words.
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

/// The declaration of a member. `initial` is empty where the type does without.
pub fn member(kind: &str, name: &str, initial: &str) -> String {
    if initial.is_empty() {
        let line = format!("  {kind} {name};");
        return if fits(&line) { line } else { format!("  {kind}\n      {name};") };
    }
    let line = format!("  {kind} {name} = {initial};");
    if fits(&line) { line } else { format!("  {kind} {name} =\n      {initial};") }
}

/// `left.a == right.a && left.b == right.b && …`, lines after the first indented by `indent`.
pub fn equality(names: &[String], left: &str, right: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = indent;
    for (index, name) in names.iter().enumerate() {
        // The end of a term: ` &&`, or the `;` of the last.
        let suffix = if index + 1 == names.len() { 1 } else { 3 };
        let term = format!("{left}.{name} == {right}.{name}");
        let stays = column + " && ".len() + term.len() + suffix <= WIDTH;
        if index > 0 && stays {
            lines += " && ";
            column += " && ".len();
        } else if index > 0 {
            lines += &format!(" &&\n{:indent$}", "");
            column = indent;
        }
        if column + term.len() + suffix > WIDTH {
            lines += &format!("{left}.{name} ==\n{:indent$}    {right}.{name}", "");
            // Whatever follows goes to a line of its own.
            column = WIDTH;
        } else {
            lines += &term;
            column += term.len();
        }
    }
    lines
}

/// Whether a line is short enough.
pub fn fits(line: &str) -> bool {
    line.chars().count() <= WIDTH
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
    fn a_line_breaks_where_it_hurts_least() {
        assert_eq!(member("Mode", "mode", "Mode::IDLE"), "  Mode mode = Mode::IDLE;");
        let long = "long".repeat(20);
        assert_eq!(member(&long, "mode", "Mode::IDLE"), format!("  {long} mode =\n      Mode::IDLE;"));
        assert_eq!(member(&long, &long, ""), format!("  {long}\n      {long};"));
        assert_eq!(equality(&["a".into(), "b".into()], "l", "r", 11), "l.a == r.a && l.b == r.b");
        let equality = equality(&["a".into(), long.clone(), "b".into()], "l", "r", 2);
        assert_eq!(equality, format!("l.a == r.a &&\n  l.{long} ==\n      r.{long} &&\n  l.b == r.b"));
    }

    #[test]
    fn a_text_cannot_end_its_literal() {
        assert_eq!(raw_literal("{}"), "R\"json({})json\"");
        assert_eq!(raw_literal(")json\" )json1\""), "R\"json2()json\" )json1\")json2\"");
    }
}
