//! The mask over a client's payload (RFC 6455 5.3).

/// Puts a mask on a payload, or takes it off.
pub fn apply(payload: &mut [u8], key: [u8; 4]) {
    let [a, b, c, d] = key;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = payload.as_chunks_mut::<8>();
    words.iter_mut().for_each(|word| *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes());
    rest.iter_mut().zip(key.iter().cycle()).for_each(|(byte, key)| *byte ^= key);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_byte_is_masked_with_its_own_byte_of_the_key(payload in proptest::collection::vec(any::<u8>(), 0..50), key: [u8; 4]) {
            let mut masked = payload.clone();
            apply(&mut masked, key);
            let expected: Vec<u8> = payload.iter().enumerate().map(|(index, byte)| byte ^ key[index % 4]).collect();
            prop_assert_eq!(&masked, &expected);
            apply(&mut masked, key);
            prop_assert_eq!(masked, payload);
        }
    }
}
