//! Any bytes are an EISA packet or refused, in both byte orders; a packet survives being written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_wire::{cdr::ByteOrder, eisa::Packet};

fuzz_target!(|bytes: &[u8]| {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let Ok(packet) = Packet::decode(bytes, order) else { continue };
        let mut again = Vec::new();
        packet.encode(order, &mut again);
        assert_eq!(Packet::decode(&again, order).expect("our own packet"), packet);
    }
});
