//! The parts of a node without its threads, for the simulation of `crates/sim`, which runs them step by step.

pub use crate::{
    announcement::Announcement,
    batch_builder::{BatchBuilder, Batching, NewSample},
    file_spool::{Directory, Journal},
    outbox::{Outbox, Progress},
    spool::{MetDac, Missing, NewBatch, Shipment, Spool},
    spooler::Spooler,
};
