//! Names of nodes and instances from topics.

use crate::filter::Filter;

/// A name with parts of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The levels of a wildcard, counted from 0.
    Capture(usize),
    Topic,
}

/// Why a text is no name with parts of a topic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    /// A brace without its other one, or with something else between them.
    #[error("{0:?} has a brace that is neither {{1}} nor {{topic}}")]
    Brace(String),
    /// The topic has fewer wildcards.
    #[error("{0:?} names the wildcard {1}, and {2:?} has only {3}")]
    Wildcard(String, usize, String, usize),
    /// Names of nodes have no such signs.
    #[error("node: {0:?} has a / or a *, which names of nodes cannot have")]
    Node(String),
    /// Nothing would be left.
    #[error("the names of node and instance cannot be empty")]
    Empty,
}

impl Template {
    /// Parses the name of a node.
    ///
    /// # Errors
    /// If it is no such name.
    pub fn of_node(text: &str, filter: &Filter) -> Result<Self, BadTemplate> {
        if text.contains(['/', '*']) {
            return Err(BadTemplate::Node(text.into()));
        }
        Self::of_instance(text, filter)
    }

    /// Parses the name of an instance.
    ///
    /// # Errors
    /// If it is no such name.
    pub fn of_instance(text: &str, filter: &Filter) -> Result<Self, BadTemplate> {
        let (mut parts, mut rest) = (Vec::new(), text);
        let brace = || BadTemplate::Brace(text.into());
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, after) = after.split_once('}').ok_or_else(brace)?;
            parts.push(Part::Text(before.into()));
            parts.push(match inside {
                "topic" => Part::Topic,
                number => {
                    let number: usize = number.parse().map_err(|_| brace())?;
                    let count = filter.wildcards();
                    if number == 0 || number > count {
                        let filter = filter.as_str().into();
                        return Err(BadTemplate::Wildcard(text.into(), number, filter, count));
                    }
                    Part::Capture(number - 1)
                }
            });
            rest = after;
        }
        if rest.contains('}') {
            return Err(brace());
        }
        parts.push(Part::Text(rest.into()));
        parts.retain(|part| *part != Part::Text(String::new()));
        if parts.is_empty() { Err(BadTemplate::Empty) } else { Ok(Self(parts)) }
    }

    /// Writes the name of a message. `push` adds a part of its topic.
    pub fn write(&self, topic: &str, captures: &[&str], push: impl Fn(&str, &mut String), to: &mut String) {
        to.clear();
        for part in &self.0 {
            match part {
                Part::Text(text) => to.push_str(text),
                Part::Capture(at) => push(captures.get(*at).copied().unwrap_or_default(), to),
                Part::Topic => push(topic, to),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_parts_of_the_topic() {
        let filter = Filter::parse("plant/+/#").unwrap();
        let written = |text: &str| {
            let mut name = String::new();
            let template = Template::of_instance(text, &filter).unwrap();
            template.write("plant/a/b/c", &["a", "b/c"], |part, to| to.push_str(part), &mut name);
            name
        };
        assert_eq!(["x", "{1}-{2}", "{topic}", "p{2}"].map(written), ["x", "a-b/c", "plant/a/b/c", "pb/c"]);
        for text in ["", "{", "}", "{0}", "{3}", "{x}", "{1"] {
            assert!(Template::of_instance(text, &filter).is_err(), "{text}");
        }
        assert!(Template::of_node("a/{1}", &filter).is_err());
    }
}
