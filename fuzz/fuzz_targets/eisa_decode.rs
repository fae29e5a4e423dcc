//! Any bytes are an EISA packet or refused, in both byte orders; a packet's metrics survive being written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::{chosen, row_of};
use oasis_wire::{
    cdr::ByteOrder,
    eisa::{Packet, read_metrics, write_metrics},
};

fuzz_target!(|input: &[u8]| {
    let Some((probe_type, bytes)) = chosen(input) else { return };
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let Ok(packet) = Packet::decode(bytes, order) else { continue };
        let Ok(values) = read_metrics(probe_type, packet.data, order) else { continue };
        let mut data = Vec::new();
        write_metrics(probe_type, &values, order, &mut data);
        let mut again = Vec::new();
        Packet { data: &data, ..packet.clone() }.encode(order, &mut again);
        let packet = Packet::decode(&again, order).expect("our own packet");
        let read = read_metrics(probe_type, packet.data, order).expect("our own metrics");
        // As bytes: NaN is not equal to itself.
        assert_eq!(row_of(probe_type, &read), row_of(probe_type, &values));
    }
});
