//! Adds the name that was probably meant to an error about an unknown key or word, in any section.

use oasis_pdl::nearest;

/// Adds a suggestion to an error of the parser, if one of the names that it lists is similar.
pub fn add(error: anyhow::Error) -> anyhow::Error {
    let text = format!("{error:#}");
    match suggestion(&text) {
        Some(name) => anyhow::anyhow!("{}\ndid you mean `{name}`?", text.trim_end()),
        None => error,
    }
}

/// Reads `unknown field `a`, expected one of `b`, `c``.
fn suggestion(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| {
        line.strip_prefix("unknown field `").or_else(|| line.strip_prefix("unknown variant `"))
    })?;
    let (unknown, expected) = line.split_once("`, expected ")?;
    // Every second part is between marks.
    nearest(unknown, expected.split('`').skip(1).step_by(2)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_of_the_names_is_suggested() {
        let of = |text: &str| suggestion(text);
        assert_eq!(
            of("TOML parse error\nunknown field `urll`, expected one of `url`, `user`").unwrap(),
            "url"
        );
        assert_eq!(of("unknown field `urll`, expected `url`").unwrap(), "url");
        assert_eq!(of("unknown field `x`, there are no fields"), None);
        assert_eq!(of("unknown field `some`, expected one of `url`, `user`"), None);
        assert_eq!(of("missing field `url`"), None);
    }
}
