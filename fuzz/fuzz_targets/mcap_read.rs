//! Any bytes are a recording or refused; what is read of it are batches that an archive takes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_wire::batch::Batch;
use std::{convert::Infallible, io::Cursor};

fuzz_target!(|input: &[u8]| {
    let read = oasis_format::mcap::read(Cursor::new(input), |recorded, batch| {
        recorded.probe_type.validate().expect("a type that archives take");
        let batch = Batch::parse(batch, &recorded.probe_type).expect("a batch that archives take");
        assert_eq!(batch.samples().len(), usize::from(batch.header().count));
        Ok::<_, Infallible>(())
    });
    if let Err(error) = read {
        assert!(!error.to_string().is_empty());
    }
});
