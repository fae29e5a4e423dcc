//! The topics of subscriptions that a limit refuses, for one message to the viewer.

/// Most topics that a message names.
const MAX_NAMED_TOPICS: usize = 5;
/// Most characters of a topic in a message.
const MAX_TOPIC_CHARACTERS: usize = 80;

/// Refused topics of one request.
#[derive(Debug, Default)]
pub struct RefusedTopics {
    count: usize,
    named: Vec<String>,
    remedy: String,
}

impl RefusedTopics {
    /// Adds a topic with the remedy.
    pub fn add(&mut self, topic: String, remedy: String) {
        self.count += 1;
        self.remedy = remedy;
        if self.named.len() < MAX_NAMED_TOPICS {
            self.named.push(topic.chars().take(MAX_TOPIC_CHARACTERS).collect());
        }
    }

    /// Returns the message; `None` if nothing was refused.
    pub fn describe(&self) -> Option<String> {
        if self.count == 0 {
            return None;
        }
        let mut topics = self.named.join(", ");
        let rest = self.count - self.named.len();
        if rest > 0 {
            topics += &format!(", and {rest} more");
        }
        Some(format!("{} subscriptions are refused ({topics}): {}", self.count, self.remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_first_topics_and_the_remedy() {
        let mut refused = RefusedTopics::default();
        assert_eq!(refused.describe(), None);
        refused.add("plant/tank".into(), "raise it".into());
        assert_eq!(refused.describe().unwrap(), "1 subscriptions are refused (plant/tank): raise it");
        (0..9_999).for_each(|number| {
            refused.add(format!("{number}{}", "\u{1F600}".repeat(1_000)), "raise it".into())
        });
        let message = refused.describe().unwrap();
        assert!(message.contains(", and 9995 more): raise it") && message.len() < 2_000, "{message}");
    }
}
