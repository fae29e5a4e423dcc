//! Topic filters (MQTT 5, 4.7): `+` stands for one level, `#` at the end for all levels from there.

/// Longest topic filter, in bytes.
const MAX_FILTER_BYTES: usize = 1_024;

/// A topic filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter(String);

/// Why a text is no topic filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no topic to subscribe to: + stands for a whole level, # for the end")]
pub struct BadFilter(String);

impl Filter {
    /// Parses a filter.
    ///
    /// # Errors
    /// If it is empty or too long, or a wildcard stands in the wrong place.
    pub fn parse(text: &str) -> Result<Self, BadFilter> {
        let last = text.split('/').count() - 1;
        let is_level = |(at, level): (usize, &str)| match level {
            "#" => at == last,
            "+" => true,
            level => !level.contains(['+', '#']) && !level.chars().any(char::is_control),
        };
        // Shared subscriptions would divide the messages between clients.
        let is_plain = !text.is_empty() && text.len() <= MAX_FILTER_BYTES && !text.starts_with("$share/");
        if is_plain && text.split('/').enumerate().all(is_level) {
            Ok(Self(text.into()))
        } else {
            Err(BadFilter(text.chars().take(MAX_FILTER_BYTES).collect()))
        }
    }

    /// The filter as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number of its wildcards.
    pub fn wildcards(&self) -> usize {
        self.0.split('/').filter(|level| is_wildcard(level)).count()
    }

    /// The last level that is no wildcard.
    pub fn name(&self) -> Option<&str> {
        self.0.split('/').rfind(|level| !is_wildcard(level) && !level.is_empty())
    }

    /// Returns what each wildcard stands for in a topic; `None` if the topic does not match.
    pub fn captures<'t>(&self, topic: &'t str) -> Option<Vec<&'t str>> {
        // Topics of the broker itself match no wildcard at their beginning.
        if topic.starts_with('$') && self.0.starts_with(['+', '#']) {
            return None;
        }
        let mut captures = Vec::new();
        let mut rest = Some(topic);
        for level in self.0.split('/') {
            if level == "#" {
                // `a/#` matches `a` too.
                captures.push(rest.unwrap_or_default());
                return Some(captures);
            }
            let present = rest?;
            let (first, after) = match present.split_once('/') {
                Some((first, after)) => (first, Some(after)),
                None => (present, None),
            };
            match level {
                "+" => captures.push(first),
                level if level == first => {}
                _ => return None,
            }
            rest = after;
        }
        rest.is_none().then_some(captures)
    }

    /// Whether a topic can match both.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (mut left, mut right) = (self.0.split('/'), other.0.split('/'));
        loop {
            match (left.next(), right.next()) {
                (None, None) | (Some("#"), _) | (_, Some("#")) => return true,
                (Some(one), Some(other)) if one == other || one == "+" || other == "+" => {}
                _ => return false,
            }
        }
    }
}

fn is_wildcard(level: &str) -> bool {
    level == "+" || level == "#"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str) -> Filter {
        Filter::parse(text).unwrap()
    }

    #[test]
    fn wildcards_stand_for_levels() {
        assert_eq!(filter("plant/+/temp").captures("plant/tank 1/temp"), Some(vec!["tank 1"]));
        assert_eq!(filter("plant/#").captures("plant/a/b"), Some(vec!["a/b"]));
        assert_eq!(filter("plant/#").captures("plant"), Some(vec![""]));
        assert_eq!(filter("+/+").captures("/a"), Some(vec!["", "a"]));
        assert_eq!(filter("#").captures("a/b"), Some(vec!["a/b"]));
        assert_eq!(filter("$SYS/#").captures("$SYS/x"), Some(vec!["x"]));
        for (text, topic) in [("a/+", "a"), ("a/+", "a/b/c"), ("a", "a/"), ("#", "$SYS/x"), ("a/b", "a/c")] {
            assert_eq!(filter(text).captures(topic), None, "{text} {topic}");
        }
        assert_eq!(filter("plant/+/temp/#").name(), Some("temp"));
        assert_eq!(filter("+/#").name(), None);
    }

    #[test]
    fn wildcards_are_whole_levels() {
        for text in ["", "a#", "#/a", "a/b+", "a\n", "$share/group/a"] {
            assert!(Filter::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn filters_overlap_if_a_topic_matches_both() {
        for (one, other, expected) in [
            ("a/+", "+/b", true),
            ("a/#", "a", true),
            ("a/b", "a/b", true),
            ("a/+/temp", "a/+/pressure", false),
            ("a/+", "a/b/c", false),
            ("#", "x", true),
        ] {
            assert_eq!(filter(one).overlaps(&filter(other)), expected, "{one} {other}");
            assert_eq!(filter(other).overlaps(&filter(one)), expected, "{other} {one}");
        }
    }
}
