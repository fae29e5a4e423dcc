//! Publishes each second of load and server.

use super::{load::Second, monitor::Watched};
use crate::experiment::{Load, Server};
use oasis_probe::PushedProbe;

/// Publishes seconds of the load, if they are recorded.
pub fn load(mut probe: Option<PushedProbe<Load>>) -> impl FnMut(&Second) {
    move |second| {
        if let Some(probe) = &mut probe {
            probe.flush(&Load {
                connections: second.active,
                responses: second.responses,
                errors: second.errors,
                emit_duration: second.emit_duration,
            });
        }
    }
}

/// Publishes seconds of the server, if they are recorded.
pub fn server(mut probe: Option<PushedProbe<Server>>) -> impl FnMut(&Watched) + Send {
    move |watched| {
        if let Some(probe) = &mut probe {
            probe.flush(&Server {
                cpu: watched.server_cpu,
                memory: watched.server_memory,
                machine_cpu: watched.system_cpu,
            });
        }
    }
}
