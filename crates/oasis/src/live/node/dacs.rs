//! The DACs of a node that a TEM knows, in the order in which the node tries them.

use crate::live::{api::Refused, dac_address::Server, tem_list::TemList};
use anyhow::Context;
use oasis_instrument::DacAddresses;
use oasis_probe::{DacUpdates, NewestList};
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

/// Where a node looks for its DACs.
#[derive(Debug, Clone)]
pub struct NodeDacs {
    /// The TEM that knows them.
    pub tem: Server,
    /// The first choice, if one is named.
    pub named: Option<DacName>,
    /// Name of the node.
    pub node: String,
}

impl NodeDacs {
    /// Returns the data channels. Waits for a TEM and a DAC: on a host that starts, the node may be first.
    ///
    /// # Errors
    /// If waiting would not help.
    pub async fn find(&self) -> anyhow::Result<DacAddresses> {
        let mut is_first = true;
        loop {
            let dacs = self.clone();
            match tokio::task::spawn_blocking(move || dacs.ask()).await?? {
                Ok(channels) => return Ok(channels),
                Err(reason) if is_first => {
                    tracing::warn!("no DAC for this node yet: {reason:#}; trying again");
                }
                Err(reason) => tracing::debug!("no DAC for this node yet: {reason:#}"),
            }
            is_first = false;
            tokio::time::sleep(ASK_AGAIN).await;
        }
    }

    /// Starts a thread that asks the TEM again when the node looks for a DAC, and now and then. It ends with the node.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn follow(self) -> io::Result<DacUpdates> {
        let (wanted, wishes) = mpsc::sync_channel(1);
        let newest = NewestList::default();
        let updates = DacUpdates { newest: newest.clone(), wanted };
        thread::Builder::new().name("oasis-dacs".into()).spawn(move || {
            while wishes.recv_timeout(REFRESH) != Err(RecvTimeoutError::Disconnected) {
                match self.ask() {
                    Ok(Ok(channels)) => newest.set(channels.iter().map(str::to_owned).collect()),
                    // The list known last goes on.
                    Ok(Err(reason)) | Err(reason) => tracing::debug!("no new list of DACs: {reason:#}"),
                }
                // A node without a DAC tries them each second.
                thread::sleep(ASK_AGAIN);
            }
        })?;
        Ok(updates)
    }

    /// Returns the data channels, or why there is none yet.
    ///
    /// # Errors
    /// If waiting would not help.
    fn ask(&self) -> anyhow::Result<anyhow::Result<DacAddresses>> {
        let list = match TemList::for_node(&self.tem, &self.node) {
            Ok(list) => list,
            Err(error) if error.downcast_ref::<Refused>().is_some() => return Err(error),
            Err(error) => return Ok(Err(error)),
        };
        let first = match &self.named {
            Some(name) => list.named(name),
            None => {
                list.dacs().iter().find(|dac| dac.is_live()).context("all DACs are late, or there are none")
            }
        };
        match first {
            Ok(first) => channels(&list, first).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }
}

/// The data channels of the first choice and of all others that can be used.
fn channels(list: &TemList, first: &DacView) -> anyhow::Result<DacAddresses> {
    let others = list.dacs().iter().filter(|dac| dac.name != first.name);
    let usable = others.filter_map(|dac| {
        list.channel(dac).inspect_err(|reason| tracing::debug!("a DAC is left out: {reason:#}")).ok()
    });
    Ok([list.channel(first)?].into_iter().chain(usable).collect())
}
