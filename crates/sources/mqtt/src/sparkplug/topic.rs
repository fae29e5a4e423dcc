//! Topics: `spBv1.0/GROUP/TYPE/EDGE` and `spBv1.0/GROUP/TYPE/EDGE/DEVICE` (4.1).

use oasis_mqtt_client::sparkplug::NAMESPACE;
use oasis_source_node::push_node_name;

/// The type of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `NBIRTH`, `DBIRTH`
    Birth,
    /// `NDATA`, `DDATA`
    Data,
    /// `NDEATH`, `DDEATH`
    Death,
}

/// A topic of an edge node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SparkplugTopic<'t> {
    pub group: &'t str,
    pub edge: &'t str,
    /// Absent for the edge node itself.
    pub device: Option<&'t str>,
    pub kind: Kind,
    /// The type as the topic has it.
    pub word: &'t str,
}

impl<'t> SparkplugTopic<'t> {
    /// Parses a topic; `None` if it is a command, the state of a host, or no topic of Sparkplug.
    pub fn parse(topic: &'t str) -> Option<Self> {
        let mut levels = topic.split('/');
        if levels.next() != Some(NAMESPACE) {
            return None;
        }
        let (group, word, edge) = (levels.next()?, levels.next()?, levels.next()?);
        let device = levels.next();
        let (of_device, kind) = match word {
            "NBIRTH" => (false, Kind::Birth),
            "DBIRTH" => (true, Kind::Birth),
            "NDATA" => (false, Kind::Data),
            "DDATA" => (true, Kind::Data),
            "NDEATH" => (false, Kind::Death),
            "DDEATH" => (true, Kind::Death),
            _ => return None,
        };
        let is_whole = device.is_some() == of_device && levels.next().is_none();
        is_whole.then_some(Self { group, edge, device, kind, word })
    }

    /// Whether it is a command or the state of a host, which have no samples.
    pub fn is_other(topic: &str) -> bool {
        let mut levels = topic.split('/');
        levels.next() == Some(NAMESPACE)
            && (levels.next() == Some("STATE") || matches!(levels.next(), Some("NCMD" | "DCMD")))
    }

    /// Writes the name of the node: `GROUP:EDGE`.
    pub fn write_node(&self, to: &mut String) {
        to.clear();
        let push = |part: &str, to: &mut String| {
            // The colon stands between both.
            let mut all = part.split(':');
            push_node_name(all.next().unwrap_or_default(), to);
            for rest in all {
                to.push_str("%3A");
                push_node_name(rest, to);
            }
        };
        push(self.group, to);
        to.push(':');
        push(self.edge, to);
    }

    /// The topic of commands to the edge node.
    pub fn command(&self) -> String {
        format!("{NAMESPACE}/{}/NCMD/{}", self.group, self.edge)
    }
}
