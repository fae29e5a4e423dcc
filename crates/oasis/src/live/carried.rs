//! Nodes whose stream another transport carries: the channels `nats` and `dds`.

use oasis_channel::carried::Accept;
use oasis_dac::{Dac, ingest::Security};
use std::sync::Arc;
use tokio::net::TcpStream;

/// The data channel of a DAC.
pub struct StreamReceiver {
    pub dac: Arc<Dac>,
    pub security: Security,
}

impl Accept for StreamReceiver {
    fn take(&self, stream: TcpStream) -> Result<(), String> {
        let peer = stream.peer_addr().map_err(|error| error.to_string())?;
        oasis_dac::ingest::serve_stream(&self.dac, stream, peer, self.security.clone())
            .map_err(|failure| failure.to_string())
    }
}
