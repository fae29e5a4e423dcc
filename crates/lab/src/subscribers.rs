//! A process full of subscribers: one alone has too few open files for all of them.

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

/// Subscribes, says so, and reads on until its input ends.
pub fn run(server: SocketAddr, source: IpAddr, dialect: Dialect, count: usize) -> anyhow::Result<()> {
    let mut crowd = Crowd::connect(server, Some(source), dialect, count)?;
    crowd.settle()?;
    order::ready(&[])?;
    let (ended, end) = mpsc::channel::<()>();
    thread::spawn(move || {
        // However it ends, it has ended.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        drop(ended);
    });
    while end.try_recv() == Err(mpsc::TryRecvError::Empty) {
        crowd.turn(Duration::from_millis(100))?;
    }
    Ok(())
}
