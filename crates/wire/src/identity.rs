//! The identity of a probe type that a program declares without PDL: a UUID computed from its schema.
//!
//! The identity is a UUID of version 5 (RFC 9562, 5.5): the SHA-1 of [`NAMESPACE`] and the compact JSON of the schema without its `uuid`. Two programs with
//! the same schema have the same type, and a changed schema is another type. All of it can run while a program is compiled.

use crate::schema::ProbeType;
use uuid::Uuid;

/// The namespace, itself the version 5 UUID of `oasis probe type` in the namespace of object identifiers.
pub const NAMESPACE: Uuid = Uuid::from_bytes([
    0x08, 0x85, 0x88, 0xf0, 0xb1, 0xe1, 0x52, 0x34, 0xa0, 0x45, 0xc5, 0x61, 0xdc, 0x85, 0x40, 0xcc,
]);

/// Bytes of a block of SHA-1 (RFC 3174).
const BLOCK: usize = 64;

/// Returns the identity of the type with this schema: compact JSON, in the order of [`ProbeType`], without `uuid`.
pub const fn identity(schema: &[u8]) -> Uuid {
    let hash = sha1(NAMESPACE.as_bytes(), schema);
    let mut bytes = [0; 16];
    let mut at = 0;
    while at < 16 {
        bytes[at] = hash[at];
        at += 1;
    }
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Uuid::from_bytes(bytes)
}

/// Gives a type the identity that its schema has, whatever UUID it has now.
pub fn identify(probe_type: &mut ProbeType) {
    // A schema contains only strings, numbers and lists, which JSON can always represent.
    let mut schema = serde_json::to_value(&*probe_type).unwrap_or_default();
    if let Some(members) = schema.as_object_mut() {
        members.shift_remove("uuid");
    }
    probe_type.uuid = identity(alloc::string::ToString::to_string(&schema).as_bytes());
}

/// Returns the text of a UUID.
pub const fn text(uuid: Uuid) -> [u8; 36] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    let (mut at, mut byte) = (0, 0);
    while byte < 16 {
        if byte == 4 || byte == 6 || byte == 8 || byte == 10 {
            at += 1;
        }
        let value = uuid.as_bytes()[byte];
        text[at] = DIGITS[(value >> 4) as usize];
        text[at + 1] = DIGITS[(value & 15) as usize];
        at += 2;
        byte += 1;
    }
    text
}

/// SHA-1 of two texts, one after the other. It identifies; nothing relies on it against an attacker.
const fn sha1(first: &[u8], second: &[u8]) -> [u8; 20] {
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let length = first.len() + second.len();
    // A one bit and 64 bits of length follow.
    let blocks = (length + 8) / BLOCK + 1;
    let mut block = 0;
    while block < blocks {
        let mut words = [0; 80];
        let mut at = 0;
        while at < BLOCK {
            let position = block * BLOCK + at;
            let byte = if position < first.len() {
                first[position]
            } else if position < length {
                second[position - first.len()]
            } else if position == length {
                0x80
            } else if position >= blocks * BLOCK - 8 {
                ((length as u64 * 8) >> (8 * (blocks * BLOCK - 1 - position))) as u8
            } else {
                0
            };
            words[at / 4] = words[at / 4] << 8 | byte as u32;
            at += 1;
        }
        state = sha1_block(state, words);
        block += 1;
    }
    let mut hash = [0; 20];
    let mut at = 0;
    while at < 20 {
        hash[at] = (state[at / 4] >> (24 - 8 * (at % 4))) as u8;
        at += 1;
    }
    hash
}

/// RFC 3174 6.1.
const fn sha1_block(state: [u32; 5], mut words: [u32; 80]) -> [u32; 5] {
    let mut round = 16;
    while round < 80 {
        words[round] =
            (words[round - 3] ^ words[round - 8] ^ words[round - 14] ^ words[round - 16]).rotate_left(1);
        round += 1;
    }
    let [mut a, mut b, mut c, mut d, mut e] = state;
    let mut round = 0;
    while round < 80 {
        let (mixed, constant) = match round {
            0..20 => (b & c | !b & d, 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(mixed)
            .wrapping_add(e)
            .wrapping_add(words[round])
            .wrapping_add(constant);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        round += 1;
    }
    [
        state[0].wrapping_add(a),
        state[1].wrapping_add(b),
        state[2].wrapping_add(c),
        state[3].wrapping_add(d),
        state[4].wrapping_add(e),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::ToString, vec};

    fn hex(bytes: &[u8]) -> alloc::string::String {
        bytes.iter().map(|byte| alloc::format!("{byte:02x}")).collect()
    }

    #[test]
    fn sha1_has_the_values_of_its_rfc() {
        assert_eq!(hex(&sha1(b"", b"")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(hex(&sha1(b"a", b"bc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(&sha1(b"", two_blocks)), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(hex(&sha1(&vec![b'a'; 999_999], b"a")), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    }

    #[test]
    fn the_namespace_is_the_one_of_its_name() {
        // RFC 9562, 6.6: the namespace of object identifiers.
        let objects: Uuid = "6ba7b812-9dad-11d1-80b4-00c04fd430c8".parse().unwrap();
        let mut bytes = sha1(objects.as_bytes(), b"oasis probe type");
        bytes[6] = bytes[6] & 0x0f | 0x50;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        assert_eq!(NAMESPACE, Uuid::from_slice(&bytes[..16]).unwrap());
    }

    #[test]
    fn a_type_is_identified_by_all_of_its_schema_but_the_uuid() {
        let schema = r#"{"name":"motor","version":"1.0","metrics":[{"name":"rpm","type":"int64"}]}"#;
        let with =
            schema.replace(r#""version""#, r#""uuid":"00000000-0000-0000-0000-000000000000","version""#);
        let mut probe_type: ProbeType = serde_json::from_str(&with).unwrap();
        identify(&mut probe_type);
        assert_eq!(probe_type.uuid, identity(schema.as_bytes()));
        assert_eq!(text(probe_type.uuid), *probe_type.uuid.to_string().as_bytes());
        let before = probe_type.uuid;
        identify(&mut probe_type);
        assert_eq!(probe_type.uuid, before);
        probe_type.metrics[0].unit = Some("1/min".into());
        identify(&mut probe_type);
        assert_ne!(probe_type.uuid, before);
    }
}
