//! The text format 0.0.4 of exporters: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::borrow::Cow;

/// A line with a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct ExposedSample<'t> {
    pub name: &'t str,
    /// In the order of the text.
    pub labels: Vec<(&'t str, Cow<'t, str>)>,
    pub value: f64,
    /// Milliseconds since 1970, if the exporter says when it took the value.
    pub time: Option<i64>,
}

/// Parses a line; `None` if it is empty or a comment.
///
/// # Errors
/// The defect of the line.
pub fn parse_line(line: &str) -> Result<Option<ExposedSample<'_>>, &'static str> {
    let line = line.trim_matches([' ', '\t', '\r']);
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let end = line.find(['{', ' ', '\t']).ok_or("it has no value")?;
    let (name, rest) = line.split_at(end);
    if name.is_empty() {
        return Err("it has no name");
    }
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    let mut words = rest.split_ascii_whitespace();
    let value = words.next().ok_or("it has no value")?;
    let value = number(value).ok_or("its value is no number")?;
    let time =
        words.next().map(|time| time.parse().map_err(|_| "its time is no whole number")).transpose()?;
    match words.next() {
        None => Ok(Some(ExposedSample { name, labels, value, time })),
        Some(_) => Err("something follows its time"),
    }
}

/// Returns a value as Go writes it: `+Inf`, `-Inf`, `NaN`, `1e3`.
fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

type Labels<'t> = Vec<(&'t str, Cow<'t, str>)>;

/// Takes labels up to the closing brace. Returns them, and what follows.
fn labels(mut rest: &str) -> Result<(Labels<'_>, &str), &'static str> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if let Some(rest) = rest.strip_prefix('}') {
            return Ok((labels, rest));
        }
        let (name, after) = rest.split_once('=').ok_or("a label has no value")?;
        let quoted =
            after.trim_start().strip_prefix('"').ok_or("the value of a label has no quotation marks")?;
        let (value, after) = quoted_text(quoted)?;
        labels.push((name.trim(), value));
        rest = after;
    }
}

/// Takes a text up to its closing quotation mark. Returns it, and what follows.
fn quoted_text(from: &str) -> Result<(Cow<'_, str>, &str), &'static str> {
    let mut text = String::new();
    let mut signs = from.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' if text.is_empty() => return Ok((Cow::Borrowed(&from[..at]), &from[at + 1..])),
            '"' => return Ok((Cow::Owned(text), &from[at + 1..])),
            '\\' => {
                if text.is_empty() {
                    from[..at].clone_into(&mut text);
                }
                match signs.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, other)) => text.push(other),
                    None => break,
                }
            }
            other if !text.is_empty() => text.push(other),
            _ => {}
        }
    }
    Err("the value of a label has no closing quotation mark")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn samples_have_labels_values_and_times() {
        let of = |line| parse_line(line).map(Option::unwrap);
        let plain = of("node_load1 0.25").unwrap();
        assert_eq!((plain.name, plain.value, plain.time), ("node_load1", 0.25, None));
        let full = of("a{b=\"c,}\", d = \"e\\\"f\\n\\\\\" ,} +Inf 1395066363000\r").unwrap();
        assert_eq!(full.labels, [("b", "c,}".into()), ("d", "e\"f\n\\".into())]);
        assert_eq!((full.value, full.time), (f64::INFINITY, Some(1_395_066_363_000)));
        assert_eq!(of("a  { b = \"1\" , }   7").unwrap().labels, [("b", "1".into())]);
        assert!(of("a NaN").unwrap().value.is_nan());
        assert_eq!(of("a{} -3.2e-5").unwrap().value, -3.2e-5);
    }

    #[test]
    fn an_escape_at_the_beginning_of_a_value_is_kept() {
        let sample = parse_line("a{b=\"\\\\c\"} 1").unwrap().unwrap();
        assert_eq!(sample.labels, [("b", "\\c".into())]);
    }

    #[test]
    fn comments_have_no_samples_and_damaged_lines_say_what_is_wrong() {
        for line in ["", "  ", "# TYPE a counter", "#"] {
            assert_eq!(parse_line(line), Ok(None), "{line}");
        }
        for line in ["a", "{} 1", "a x", "a 1 2.5", "a 1 2 3", "a{b} 1", "a{b=c} 1", "a{b=\"c", "a{b=\"c\" 1"]
        {
            assert!(parse_line(line).is_err(), "{line}");
        }
    }

    proptest! {
        /// Any text is a sample, or refused.
        #[test]
        fn any_line_is_answered(line in ".*") {
            let _ = parse_line(&line);
        }

        /// Labels of any characters come back.
        #[test]
        fn labels_come_back(value in "[^\r]*") {
            let written = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let line = format!("a{{b=\"{written}\"}} 1");
            let sample = parse_line(&line).unwrap().unwrap();
            prop_assert_eq!(&*sample.labels[0].1, &*value);
        }
    }
}
