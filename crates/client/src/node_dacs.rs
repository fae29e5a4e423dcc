//! The DACs of a node that a TEM knows, in the order in which the node tries them.

use crate::{ClientError, TemList, Tems};
use oasis_channel::{DacUpdates, NewestList};
use oasis_tem::{DacName, DacView};
use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// Pause before a TEM is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// A DAC that has come is known to the node after this time: the TEM may have gone when the node needs it.
const REFRESH: Duration = Duration::from_secs(60);

/// Sources from which a node learns its DACs.
#[derive(Debug, Clone)]
pub struct NodeDacs {
    /// The TEMs that know them.
    pub tems: Tems,
    /// The first choice, if one is named.
    pub named: Option<DacName>,
    /// Name of the node.
    pub node: String,
}

impl NodeDacs {
    /// Starts a thread that asks the TEMs now, when the node looks for a DAC, and once a minute. It ends with the node.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn follow(mut self) -> io::Result<DacUpdates> {
        let (wanted, wishes) = mpsc::sync_channel(1);
        let newest = NewestList::default();
        let updates = DacUpdates { newest: newest.clone(), wanted };
        thread::Builder::new().name("oasis-dacs".into()).spawn(move || {
            loop {
                match self.find() {
                    Ok(channels) => newest.set(channels),
                    // The node keeps the list that it knew last.
                    Err(reason) => newest.set_problem(reason.to_string()),
                }
                // A node without a DAC tries them each second.
                thread::sleep(ASK_AGAIN);
                if wishes.recv_timeout(REFRESH) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
            }
        })?;
        Ok(updates)
    }

    /// Returns the data channels, the first choice first. While no TEM answers, they are those that it knew last.
    ///
    /// # Errors
    /// If there is none. [`ClientError::is_final`] says whether waiting helps.
    pub fn find(&mut self) -> Result<Vec<String>, ClientError> {
        let found = self.tems.fetch(Some(&self.node))?;
        if let Some(remembered) = &found.remembered {
            tracing::debug!("{}", remembered.notice());
        }
        match &self.named {
            Some(name) => channels_from(&found.list, found.list.named(name)?),
            // Whether a DAC was live when the TEM was last heard says little.
            None if found.remembered.is_some() => channels(&found.list, found.list.for_nodes()),
            None => {
                found.list.check_live()?;
                channels(&found.list, found.list.for_nodes())
            }
        }
    }
}

/// The data channels of the first choice, and of all others that can be used.
fn channels_from(list: &TemList, first: &DacView) -> Result<Vec<String>, ClientError> {
    let others = list.for_nodes().filter(|dac| dac.name != first.name);
    let others = channels(list, others).unwrap_or_default();
    Ok([list.channel(first)?].into_iter().chain(others).collect())
}

/// The data channels that can be used, at least one.
fn channels<'a>(list: &TemList, dacs: impl Iterator<Item = &'a DacView>) -> Result<Vec<String>, ClientError> {
    let (mut usable, mut refused) = (Vec::new(), None);
    for dac in dacs {
        match list.channel(dac) {
            Ok(channel) => usable.push(channel),
            Err(reason) => {
                tracing::debug!("a DAC is left out: {reason}");
                refused.get_or_insert(reason);
            }
        }
    }
    match refused {
        Some(reason) if usable.is_empty() => Err(reason),
        _ => Ok(usable),
    }
}
