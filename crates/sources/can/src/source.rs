//! The source while it runs: a thread for each interface.

use crate::{
    CanConfig,
    config::FrameOrigin,
    decoder::{Decoder, DecoderCounters, Messages},
    socket::FrameSocket,
};
use oasis_dac::{Dac, now};
use oasis_handler::{Context, Failure, Handler, StateMetrics, Stopping};
use oasis_source_node::{SourceLimits, SourceNodes};
use serde_json::{Value, json};
use std::{
    io::{self, ErrorKind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// Longest wait for a frame, after which a thread sees whether it has to stop.
const READ_TIMEOUT: Duration = Duration::from_millis(100);
/// Pause before an interface is opened again.
const REOPEN_DELAY: Duration = Duration::from_secs(1);
/// Most frames that are read before their samples are sent.
const MAX_UNSENT_FRAMES: usize = 1_024;

/// Receives frames of CAN interfaces.
#[derive(Debug)]
pub struct CanSource {
    config: CanConfig,
    messages: Arc<Messages>,
    interfaces: Vec<Interface>,
}

#[derive(Debug)]
struct Interface {
    origin: FrameOrigin,
    state: Mutex<InterfaceState>,
}

/// Whether an interface is open, and its counters.
#[derive(Debug, Clone, Default)]
struct InterfaceState {
    is_open: bool,
    newest_failure: Option<String>,
    lost_samples: u64,
    series: usize,
    counters: DecoderCounters,
}

impl Handler for CanSource {
    fn name(&self) -> &'static str {
        "can"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let (dac, stopping) = (&context.dac, &context.stopping);
        thread::scope(|scope| {
            for interface in &self.interfaces {
                let started = thread::Builder::new()
                    .name(format!("can {}", interface.origin))
                    .spawn_scoped(scope, move || self.receive(interface, dac, stopping));
                // The other threads end when the handler is asked to stop.
                if let Err(error) = started {
                    interface.state().newest_failure = Some(format!("cannot start its thread: {error}"));
                }
            }
            Ok(())
        })
    }

    fn state(&self) -> Value {
        let interfaces: Vec<_> = self.interfaces.iter().map(Interface::json).collect();
        json!({"interfaces": interfaces, "messages": self.messages.count()})
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &[
                "interfaces{interface}.frames",
                "interfaces{interface}.bits",
                "interfaces{interface}.error_frames",
                "interfaces{interface}.dropped_frames",
                "interfaces{interface}.undescribed_frames",
                "interfaces{interface}.short_frames",
                "interfaces{interface}.bad_datagrams",
                "interfaces{interface}.samples",
                "interfaces{interface}.refused_samples",
                "interfaces{interface}.lost_samples",
            ],
            gauges: &["interfaces{interface}.series"],
        }
    }

    fn problem(&self) -> Option<String> {
        let closed = self.interfaces.iter().filter_map(|interface| {
            let state = interface.state();
            let why = state.newest_failure.as_ref().filter(|_| !state.is_open)?;
            Some(format!("{}: {why}", interface.origin))
        });
        let closed: Vec<_> = closed.collect();
        (!closed.is_empty()).then(|| closed.join("; "))
    }

    fn warnings(&self) -> Vec<String> {
        self.interfaces.iter().flat_map(Interface::warnings).collect()
    }
}

impl CanSource {
    /// Creates a source that does not run yet.
    pub(crate) fn new(config: CanConfig, origins: Vec<FrameOrigin>, messages: Messages) -> Self {
        let interfaces = origins.into_iter().map(|origin| Interface { origin, state: Mutex::default() });
        Self { config, messages: Arc::new(messages), interfaces: interfaces.collect() }
    }

    /// Receives frames of an interface. Opens it again after a failure.
    fn receive(&self, interface: &Interface, dac: &Arc<Dac>, stopping: &Stopping) {
        let CanConfig { node, frames, bit_rate, data_bit_rate, max_series, .. } = &self.config;
        let node = interface.origin.node_name(node);
        let mut decoder = Decoder::new(node, self.messages.clone(), *frames, (*bit_rate, *data_bit_rate));
        let limits = SourceLimits { max_nodes: 1, max_instances: *max_series, ..SourceLimits::default() };
        let mut nodes = SourceNodes::new(dac.clone(), "oasis can", limits);
        while !stopping.is_stopping() {
            let ended = interface.open().and_then(|socket| {
                interface.set_open();
                read_all(interface, socket, &mut decoder, &mut nodes, stopping)
            });
            interface.flush(&decoder, &mut nodes);
            nodes.disconnect(decoder.node());
            let mut state = interface.state();
            state.is_open = false;
            let Err(error) = ended else { return };
            let (origin, error) = (interface.origin.to_string(), error.to_string());
            if state.newest_failure.as_ref() != Some(&error) {
                tracing::warn!(interface = origin, error, "no frames of CAN");
            }
            state.newest_failure = Some(error);
            drop(state);
            if stopping.wait_for(REOPEN_DELAY) {
                return;
            }
        }
    }
}

/// Reads frames until the interface fails, or the handler has to stop.
fn read_all(
    interface: &Interface,
    mut socket: FrameSocket,
    decoder: &mut Decoder,
    nodes: &mut SourceNodes,
    stopping: &Stopping,
) -> io::Result<()> {
    let mut unsent = 0;
    while !stopping.is_stopping() {
        decoder.poll(now().0, nodes);
        // Samples are sent before the thread waits.
        match socket.receive(unsent == 0) {
            Ok(frame) => {
                let bytes = frame.bytes.get(..frame.length).unwrap_or_default();
                decoder.receive(bytes, frame.dropped_before, now().0, nodes);
                unsent += 1;
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                interface.flush(decoder, nodes);
                unsent = 0;
            }
            Err(error) => return Err(error),
        }
        if unsent >= MAX_UNSENT_FRAMES {
            interface.flush(decoder, nodes);
            // Not 0: there may be more frames.
            unsent = 1;
        }
    }
    Ok(())
}

impl Interface {
    fn open(&self) -> io::Result<FrameSocket> {
        match &self.origin {
            FrameOrigin::Interface(name) => FrameSocket::open_interface(name, READ_TIMEOUT),
            FrameOrigin::Socket(path) => FrameSocket::listen(path, READ_TIMEOUT),
        }
    }

    fn set_open(&self) {
        let mut state = self.state();
        (state.is_open, state.newest_failure) = (true, None);
    }

    /// Sends all samples, and shows the counters.
    fn flush(&self, decoder: &Decoder, nodes: &mut SourceNodes) {
        let lost = nodes.flush();
        let mut state = self.state();
        state.lost_samples += lost.count;
        state.series = nodes.instance_count();
        state.counters.clone_from(&decoder.counters);
        if lost.count > 0 {
            state.counters.newest_refusal = Some(lost.reason);
        }
    }

    fn json(&self) -> Value {
        let state = self.state().clone();
        let counters = state.counters;
        json!({
            "interface": self.origin.to_string(),
            "open": state.is_open,
            "frames": counters.frames,
            "bits": counters.bits,
            "error_frames": counters.error_frames,
            "dropped_frames": counters.dropped_frames,
            "undescribed_frames": counters.undescribed_frames,
            "short_frames": counters.short_frames,
            "bad_datagrams": counters.bad_datagrams,
            "samples": counters.samples,
            "refused_samples": counters.refused_samples,
            "lost_samples": state.lost_samples,
            "series": state.series,
            "newest_refusal": counters.newest_refusal,
            "newest_failure": state.newest_failure,
        })
    }

    fn warnings(&self) -> Vec<String> {
        let state = self.state().clone();
        let counters = state.counters;
        let refusal = counters.newest_refusal.map(|why| {
            let (refused, lost) = (counters.refused_samples, state.lost_samples);
            format!("{}: {refused} samples refused, {lost} lost, the newest: {why}", self.origin)
        });
        let count = counters.dropped_frames;
        let dropped = (count > 0).then(|| {
            format!(
                "{}: the kernel dropped {count} frames because the DAC did not read them as fast",
                self.origin
            )
        });
        let count = counters.short_frames;
        let short = (count > 0).then(|| {
            format!("{}: {count} frames have fewer bytes than can.dbc says, so that they are no samples of their messages", self.origin)
        });
        [refusal, dropped, short].into_iter().flatten().collect()
    }

    fn state(&self) -> MutexGuard<'_, InterfaceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
