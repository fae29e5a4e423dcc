//! Settings of `[mqtt]` and `[mqtt_publish]` that do not work together at one broker.

use super::Config;
use anyhow::{bail, ensure};
use oasis_mqtt::PayloadFormat;

impl Config {
    /// Checks that the two sections have names of their own at a broker, and that no sample goes round in a circle.
    ///
    /// # Errors
    /// If they do not work together: names the settings of both.
    pub fn check_mqtt_sections(&self) -> anyhow::Result<()> {
        let (received, published) = (&self.mqtt, &self.mqtt_publish);
        let Some((broker, other)) = received.broker_address().zip(published.broker_address()) else {
            return Ok(());
        };
        if !broker.is_same_broker(&other) {
            return Ok(());
        }
        ensure!(
            received.client_id != published.client_id,
            "mqtt.client_id and mqtt_publish.client_id are both {:?} at {broker}: the broker ends one connection when the other begins; \
             set another client_id in one of the sections",
            received.client_id
        );
        for (setting, topics) in published.published_topics() {
            for subscription in received.subscriptions_to(&topics) {
                let node = match subscription.format {
                    PayloadFormat::Sparkplug => format!("{}:{}", published.group, published.edge),
                    _ => subscription.node.clone(),
                };
                if published.instances.iter().any(|pattern| can_match_node(pattern, &node)) {
                    bail!(
                        "mqtt.subscribe: {:?} has topics of mqtt_publish.{setting} ({topics}) at {broker}: samples would go round in a circle; \
                         subscribe to other topics, or leave the node {node:?} out of mqtt_publish.instances",
                        subscription.topic
                    );
                }
            }
        }
        Ok(())
    }
}

/// Whether a pattern such as `plant-*/pump` can match an instance of a node, in whose name `{1}` stands for any text.
fn can_match_node(pattern: &str, node: &str) -> bool {
    let end = pattern.find(['*', '/']).unwrap_or(pattern.len());
    let has_wildcard = pattern[end..].starts_with('*');
    let (pattern, beginning) = (&pattern[..end], node.split('{').next().unwrap_or_default());
    match (has_wildcard, beginning.len() < node.len()) {
        (false, false) => pattern == beginning,
        (false, true) => pattern.starts_with(beginning),
        (true, false) => beginning.starts_with(pattern),
        (true, true) => pattern.starts_with(beginning) || beginning.starts_with(pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(received: &str, published: &str) -> String {
        let text = format!("[mqtt]\n{received}\n[mqtt_publish]\n{published}");
        let config: Config = toml::from_str(&text).unwrap();
        config.check_mqtt_sections().err().map(|error| error.to_string()).unwrap_or_default()
    }

    const PLANT: &str = "url = 'mqtt://localhost'\nsubscribe = [{ topic = 'plant/#' }]";

    #[test]
    fn two_sections_with_one_client_id_at_one_broker_are_refused() {
        let published = "url = 'mqtt://127.0.0.1:1883'\nclient_id = 'oasis'";
        let same = error(PLANT, published);
        assert!(same.contains("mqtt.client_id and mqtt_publish.client_id are both \"oasis\""), "{same}");
        assert_eq!(error(PLANT, "url = 'mqtt://localhost:1884'\nclient_id = 'oasis'"), "");
        assert_eq!(error(PLANT, "url = 'mqtt://localhost'"), "");
        assert_eq!(error(PLANT, "client_id = 'oasis'"), "", "nothing is published");
    }

    #[test]
    fn a_subscription_to_what_the_dac_publishes_is_refused() {
        let received = |topic: &str| format!("url = 'mqtt://localhost'\nsubscribe = [{topic}]");
        let everything = received("{ topic = '#' }");
        let circle = error(&everything, "url = 'mqtt://localhost'");
        assert!(circle.contains("mqtt.subscribe: \"#\""), "{circle}");
        assert!(circle.contains("mqtt_publish.topic (oasis/+/+)"), "{circle}");
        assert_eq!(error(&everything, "url = 'mqtt://broker.example.org'"), "");
        assert_eq!(error(&received("{ topic = 'oasis/a' }"), "url = 'mqtt://localhost'"), "");
        let missing = error(&received("{ topic = 'oasis/+' }"), "url = 'mqtt://localhost'");
        assert!(missing.contains("mqtt_publish.missing_topic (oasis/missing)"), "{missing}");
        // The node of these messages is not published.
        let rules = "url = 'mqtt://localhost'\ninstances = ['rules/*']";
        assert_eq!(error(&everything, rules), "");
        assert_ne!(error(&received("{ topic = '+/#', node = '{1}' }"), rules), "");
    }

    #[test]
    fn an_edge_node_does_not_receive_its_own_devices() {
        let received =
            "url = 'mqtt://localhost'\nsubscribe = [{ topic = 'spBv1.0/#', format = 'sparkplug' }]";
        let published = "url = 'mqtt://localhost'\nformat = 'sparkplug'\ngroup = 'plant'";
        let circle = error(received, published);
        assert!(circle.contains("mqtt_publish.edge (spBv1.0/plant/+/oasis/#)"), "{circle}");
        assert_eq!(error(received, &format!("{published}\ninstances = ['pump-*/*']")), "");
        assert_ne!(error(received, &format!("{published}\ninstances = ['plant:oasis/*']")), "");
    }
}
