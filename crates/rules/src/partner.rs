//! The names of instances that belong together.

/// Puts what the stars of one pattern stand for in the place of those of another one. The first stars stand for as little as possible. `None` if the text does not
/// match, or the other pattern has more stars.
pub fn replaced(pattern: &str, other: &str, text: &str) -> Option<String> {
    let mut stars = captured(pattern, text)?.into_iter();
    let mut parts = other.split('*');
    let mut result = parts.next()?.to_owned();
    for part in parts {
        result += stars.next()?;
        result += part;
    }
    Some(result)
}

/// Returns the text that each star stands for.
fn captured<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut parts = pattern.split('*');
    let mut text = text.strip_prefix(parts.next()?)?;
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return text.is_empty().then(Vec::new);
    }
    let mut stars = Vec::new();
    while let Some(part) = parts.next() {
        let at = if parts.peek().is_none() { text.strip_suffix(part)?.len() } else { text.find(part)? };
        stars.push(&text[..at]);
        text = &text[at + part.len()..];
    }
    Some(stars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_the_same_text() {
        let of = |pattern, other, text| replaced(pattern, other, text);
        assert_eq!(of("*/pump *", "*/feed *", "plant-7/pump 2").as_deref(), Some("plant-7/feed 2"));
        assert_eq!(of("a-*/pump", "a-b/feed", "a-c/pump").as_deref(), Some("a-b/feed"));
        assert_eq!(of("*/pump", "*/feed *", "plant-7/pump"), None);
        assert_eq!(of("a/pump", "a/feed", "b/pump"), None);
        for text in ["a/x", "xaxbxb", "", "a//b"] {
            for pattern in ["*", "*a*b", "a/*", "*x*x*"] {
                let is_match = oasis_wire::pattern::matches(pattern, text);
                assert_eq!(
                    of(pattern, pattern, text).as_deref(),
                    is_match.then_some(text),
                    "{pattern} {text}"
                );
            }
        }
    }
}
