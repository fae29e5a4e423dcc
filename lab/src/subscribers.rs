//! A process of subscribers: one process has too few open files for all.

use crate::{
    crowd::{Crowd, Dialect},
    order,
};
use std::{
    io::{self, Read},
    net::{IpAddr, SocketAddr},
    sync::mpsc,
    thread,
    time::Duration,
};

/// Subscribes, reports ready, and reads until the end of its input.
pub fn run(server: SocketAddr, source: IpAddr, dialect: Dialect, count: usize) -> anyhow::Result<()> {
    let mut crowd = Crowd::connect(server, Some(source), dialect, count)?;
    crowd.settle()?;
    order::ready(&[])?;
    let (ended, end) = mpsc::channel::<()>();
    thread::spawn(move || {
        // An error ends it as well.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        drop(ended);
    });
    while end.try_recv() == Err(mpsc::TryRecvError::Empty) {
        crowd.turn(Duration::from_millis(100))?;
    }
    Ok(())
}
