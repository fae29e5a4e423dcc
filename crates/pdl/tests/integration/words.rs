//! The words of a text without blanks, found without the lexer.

/// Words, texts, signs, documentation and comments, in order. The lines of a comment are trimmed.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(is_blank);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(length(rest));
        let lines: Vec<&str> = word.lines().map(str::trim).collect();
        words.push(lines.join("\n"));
        rest = after.trim_start_matches(is_blank);
    }
    words
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0c' | '\u{feff}')
}

fn length(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    let up_to = |inside: &str, end: &str| inside.find(end).map_or(inside.len(), |at| at + end.len());
    if let Some(inside) = text.strip_prefix("/*") {
        return 2 + up_to(inside, "*/");
    }
    if let Some(inside) = text.strip_prefix('"') {
        return 1 + up_to(inside, "\"");
    }
    if text.starts_with("::") {
        return 2;
    }
    // Numbers and UUIDs too.
    let word = text.find(|character: char| !character.is_ascii_alphanumeric() && !"_.-+".contains(character));
    word.unwrap_or(text.len()).max(1)
}
