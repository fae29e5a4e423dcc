//! End to end: real processes, real sockets.

mod harness;
mod two_processes;
