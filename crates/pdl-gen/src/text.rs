//! Texts of the PDL on their way into literals and comments of programming languages.

/// Lines without blank ones around them; those after the first without their common indentation.
pub fn dedented(text: &str) -> Vec<String> {
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

/// A string literal in the preferred quotes, or in the others if those need fewer escapes.
pub fn quoted(text: &str, preferred: char, other: char) -> String {
    let count = |quote| text.chars().filter(|character| *character == quote).count();
    let quote = if count(preferred) > count(other) { other } else { preferred };
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

/// A control character as most languages can read it.
pub fn escape(control: char) -> String {
    format!("\\x{:02x}", u32::from(control))
}

/// Returns pieces of at most this many characters, cut after commas where possible.
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
    fn pieces_end_at_commas() {
        assert_eq!(pieces("a,bb,ccc,ddddddd", 5), ["a,bb,", "ccc,", "ddddddd"]);
    }
}
