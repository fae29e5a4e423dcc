//! Any bytes, in any pieces: the decoder must not panic, and pieces must not change what it returns.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_websocket::{Decoder, Error, Limits, Role, handshake};

fuzz_target!(|input: &[u8]| {
    let Some((&[piece, role], bytes)) = input.split_first_chunk() else { return };
    let role = if role % 2 == 0 { Role::Server } else { Role::Client };
    let whole = decode(role, bytes, bytes.len().max(1));
    assert_eq!(whole, decode(role, bytes, usize::from(piece) + 1));
    if let Ok(Some((head, size))) = handshake::Head::parse(bytes, 4096) {
        assert!(size <= bytes.len());
        let _ = handshake::check(head.method, head.headers());
    }
});

fn decode(role: Role, bytes: &[u8], piece: usize) -> (Vec<String>, Option<Error>) {
    let mut decoder = Decoder::new(role, Limits::of_messages(1000));
    let mut messages = Vec::new();
    for piece in bytes.to_vec().chunks_mut(piece) {
        let outcome = decoder.decode(piece, |message| {
            messages.push(format!("{message:?}"));
            Ok::<_, Error>(())
        });
        if let Err(error) = outcome {
            return (messages, Some(error));
        }
    }
    (messages, None)
}
