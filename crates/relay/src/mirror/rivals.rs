//! Different nodes of one name, at this upstream and elsewhere: a relay lists one of them alone, and says so.

use super::Mirror;
use oasis_dac::RelayError;

/// Looks in a row until a second node of a name is reported: a node that starts again elsewhere is listed twice for a moment.
const MIN_POLLS: u32 = 5;

impl Mirror {
    /// Looks for nodes that are connected to the upstream, while another node of their name is connected elsewhere.
    pub(super) fn look_for_rivals(&mut self) {
        let registry = &self.upstream.dac().registry;
        let (mut first, mut count) = (None, 0);
        for (name, known) in &mut self.nodes {
            let is_elsewhere = known.entry.online && matches!(known.refused, Some(RelayError::Elsewhere(_)));
            let rival = is_elsewhere.then(|| registry.node(name)).flatten();
            // A node that has moved has the same run.
            let rival = rival.filter(|node| node.is_online() && node.identity.run != known.entry.run);
            known.rivaled = if rival.is_some() { known.rivaled.saturating_add(1) } else { 0 };
            if let Some(rival) = rival.filter(|_| known.rivaled > MIN_POLLS) {
                count += 1;
                first.get_or_insert_with(|| (name.clone(), rival.path().first().map(|hop| hop.dac.clone())));
            }
        }
        self.rivals = first.map(|(name, home)| {
            let home = home.unwrap_or_else(|| "this DAC".into());
            let more = if count > 1 { format!(" (and {} more names)", count - 1) } else { String::new() };
            format!(
                "different nodes have the name {name}{more}, at {} and {home}: only that of {home} is relayed; give one of them another name \
                 (--name, node.name)",
                self.name
            )
        });
    }

    /// Returns why not everything of the upstream is relayed; none if all is.
    pub fn problem(&self) -> Option<String> {
        let left_out = (self.left_out > 0).then(|| {
            format!(
                "{} nodes, instances or schemas of an upstream are not relayed: see the log",
                self.left_out
            )
        });
        match (&self.rivals, left_out) {
            (Some(rivals), Some(left_out)) => Some(format!("{rivals}; {left_out}")),
            (rivals, left_out) => rivals.clone().or(left_out),
        }
    }
}
