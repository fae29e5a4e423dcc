//! Patterns of names, the same in commands, retention rules and permissions: a `*` stands for any text.

/// Whether the pattern matches the whole text. A `*` matches any text, other characters match themselves.
///
/// ```
/// assert!(oasis_wire::pattern::matches("plant-*/pump", "plant-7/pump"));
/// ```
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    // The first match of the next literal is sufficient: a later star matches the rest.
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "a/b"),
            ("a/b", "a/b"),
            ("a/*", "a/"),
            ("*/cpu*", "plant/cpu 3"),
            ("*a*b", "xaxbxb"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a", "ab"), ("a/*", "b/a/"), ("*/cpu", "a/cpu1"), ("a*a", "a"), ("*a*b", "ba")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
