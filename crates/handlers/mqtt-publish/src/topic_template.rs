//! Topics of instances: a template whose levels have the names of node and instance, escaped.

use std::fmt::Write as _;

/// Longest template, in bytes.
const MAX_TEMPLATE_BYTES: usize = 512;
/// Longest topic, in bytes. Brokers take 65,535; names have 1,024 each, and three times that if each byte is escaped.
pub const MAX_TOPIC_BYTES: usize = 4_096;

/// Why a topic of the settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTopic {
    /// A topic without characters, or a long one.
    #[error("a topic has 1 to {MAX_TEMPLATE_BYTES} bytes")]
    Length,
    /// A wildcard, a control character, or the topics of the broker itself.
    #[error("{0:?} is no topic to publish to: leave out +, #, control characters and a $ at its beginning")]
    Characters(String),
    /// Two instances would have one topic.
    #[error("{0:?} lacks {{node}} or {{instance}} as a level: write such as \"oasis/{{node}}/{{instance}}\"")]
    Levels(String),
}

/// A topic with a level for the node and one for the instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicTemplate(String);

impl TopicTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// If it is no topic, or two instances would have the same one.
    pub fn parse(text: &str) -> Result<Self, BadTopic> {
        check_topic(text)?;
        let has = |level: &str| text.split('/').filter(|found| *found == level).count() == 1;
        if !has("{node}") || !has("{instance}") || text.matches('{').count() != 2 {
            return Err(BadTopic::Levels(text.into()));
        }
        Ok(Self(text.into()))
    }

    /// Returns the topic of an instance; `None` if it is too long.
    pub fn topic(&self, node: &str, instance: &str) -> Option<String> {
        let mut topic = String::new();
        for (at, level) in self.0.split('/').enumerate() {
            if at > 0 {
                topic.push('/');
            }
            match level {
                "{node}" => push_level(node, &mut topic),
                "{instance}" => push_level(instance, &mut topic),
                plain => topic.push_str(plain),
            }
        }
        // Topics that begin with $ belong to the broker.
        if topic.starts_with('$') {
            topic.replace_range(..1, "%24");
        }
        Some(topic).filter(|topic| topic.len() <= MAX_TOPIC_BYTES)
    }
}

/// Checks a topic of the settings.
///
/// # Errors
/// If nothing can be published to it.
pub fn check_topic(topic: &str) -> Result<(), BadTopic> {
    if topic.is_empty() || topic.len() > MAX_TEMPLATE_BYTES {
        return Err(BadTopic::Length);
    }
    let is_bad = |letter: char| matches!(letter, '+' | '#') || is_forbidden(letter);
    if topic.contains(is_bad) || topic.starts_with('$') {
        return Err(BadTopic::Characters(topic.into()));
    }
    Ok(())
}

/// Adds a name as one level. Signs with a meaning in topics, and `%`, are encoded as in addresses (RFC 3986 2.1): two names never have one level.
pub fn push_level(name: &str, to: &mut String) {
    for letter in name.chars() {
        if !matches!(letter, '/' | '+' | '#' | '%') && !is_forbidden(letter) {
            to.push(letter);
            continue;
        }
        let mut buffer = [0; 4];
        for byte in letter.encode_utf8(&mut buffer).bytes() {
            // A text grows without errors.
            let _ = write!(to, "%{byte:02X}");
        }
    }
}

/// Whether brokers may close the connection for a character (MQTT 5, 1.5.4): control characters, and numbers that are no characters.
fn is_forbidden(letter: char) -> bool {
    let number = u32::from(letter);
    letter.is_control() || number & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn hostile_names_stay_one_level_and_have_topics_of_their_own() {
        let template = TopicTemplate::parse("{node}/a/{instance}").unwrap();
        let names =
            ["a", "a/b", "a%2Fb", "+", "#", "\0", "$SYS", "\u{fffe}", "\u{7f}", "ä", "%", " ", "\u{fdd0}"];
        let mut found = HashSet::new();
        for node in names {
            for instance in names {
                let topic = template.topic(node, instance).unwrap();
                assert_eq!(topic.split('/').count(), 3, "{topic:?}");
                assert_eq!(check_topic(&topic), Ok(()), "{topic:?}");
                assert!(found.insert(topic));
            }
        }
        assert_eq!(template.topic("a+b", "c/d#").as_deref(), Some("a%2Bb/a/c%2Fd%23"));
        assert_eq!(template.topic("$SYS", "x").as_deref(), Some("%24SYS/a/x"));
        assert_eq!(template.topic(&"/".repeat(1_024), &"/".repeat(1_024)), None);
        assert!(template.topic(&"/".repeat(1_024), "x").is_some());
    }

    #[test]
    fn a_template_names_node_and_instance_and_no_wildcards() {
        for good in ["oasis/{node}/{instance}", "{instance}/{node}", "a/{node}/b/{instance}/c"] {
            assert!(TopicTemplate::parse(good).is_ok(), "{good}");
        }
        for bad in
            ["", "oasis", "{node}", "{node}{instance}", "{node}/{instance}/{type}", "a/x{node}/{instance}"]
        {
            assert!(TopicTemplate::parse(bad).is_err(), "{bad}");
        }
        for bad in
            ["+/{node}/{instance}", "{node}/{instance}/#", "$a/{node}/{instance}", "\0/{node}/{instance}"]
        {
            assert!(matches!(TopicTemplate::parse(bad), Err(BadTopic::Characters(_))), "{bad}");
        }
    }
}
