//! Publishes each second of load, server and workers.

use super::{fleet::Second, monitor::Watched};
use crate::experiment::{Load, Server, Worker};
use oasis_probe::PushedProbe;

/// Publishes seconds of the load, if they are recorded.
pub fn load(mut probe: Option<PushedProbe<Load>>) -> impl FnMut(&Second) {
    move |second| {
        if let Some(probe) = &mut probe {
            probe.flush(&Load {
                connections: second.active,
                responses: second.responses,
                errors: second.errors,
                longest: second.longest,
            });
        }
    }
}

/// Publishes seconds of the server, and of its workers, which are the first of the watched parts, if they are recorded.
pub fn server(
    mut probe: Option<PushedProbe<Server>>,
    mut workers: Vec<PushedProbe<Worker>>,
) -> impl FnMut(&Watched) + Send {
    move |watched| {
        if let Some(probe) = &mut probe {
            probe.flush(&Server {
                cpu: watched.server_cpu,
                memory: watched.server_memory,
                machine_cpu: watched.system_cpu,
            });
        }
        for (probe, cpu) in workers.iter_mut().zip(&watched.parts) {
            probe.flush(&Worker { cpu: *cpu });
        }
    }
}
