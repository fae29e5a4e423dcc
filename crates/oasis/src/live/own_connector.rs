//! Connects a node of this process to the DAC of this process.

use oasis_channel::{Connector, Ended, NodeMessage, Patience, Receiver, Sender, Turn};
use oasis_dac::Dac;
use std::{io, sync::Arc};

/// A connector that tells the DAC of each hello before it is sent, so that the DAC knows its own nodes without certificates too.
pub struct OwnConnector {
    dac: Arc<Dac>,
    inner: Box<dyn Connector>,
}

impl OwnConnector {
    /// Connects through another connector.
    pub fn new(dac: Arc<Dac>, inner: Box<dyn Connector>) -> Self {
        Self { dac, inner }
    }
}

impl Connector for OwnConnector {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let (inner, receiver) = self.inner.connect()?;
        Ok((Box::new(OwnSender { dac: self.dac.clone(), inner }), receiver))
    }

    fn target(&self) -> String {
        self.inner.target()
    }

    fn patience(&self) -> Patience {
        self.inner.patience()
    }

    fn turn(&mut self, ended: &Ended) -> Turn {
        self.inner.turn(ended)
    }
}

struct OwnSender {
    dac: Arc<Dac>,
    inner: Box<dyn Sender>,
}

impl Sender for OwnSender {
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()> {
        for message in control {
            if let NodeMessage::Hello { node, secret: Some(secret), .. } = message {
                self.dac.own_nodes.expect(&node.name, *secret);
            }
        }
        self.inner.send(control, batches)
    }

    fn send_ahead(&mut self, batches: &[&[u8]]) -> io::Result<()> {
        self.inner.send_ahead(batches)
    }

    fn close(&mut self) {
        self.inner.close();
    }
}
