//! A part of a state that many states share: copied when it changes, with a hash that is made once.

use std::{
    fmt::Debug,
    hash::{Hash, Hasher},
    ops::Deref,
    rc::Rc,
};

/// A value and the hash of its debug text, which names all of its fields, also those that no test may see.
#[derive(Debug, Clone)]
pub struct Hashed<T> {
    value: Rc<T>,
    hash: u64,
}

impl<T: Debug + Clone> Hashed<T> {
    pub fn new(value: T) -> Self {
        let hash = hash_of(&value);
        Self { value: Rc::new(value), hash }
    }

    /// Changes a copy.
    pub fn change<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut value = (*self.value).clone();
        let result = change(&mut value);
        *self = Self::new(value);
        result
    }
}

impl<T> Deref for Hashed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Hash for Hashed<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Mixes words to a hash. That of the standard library is made for hostile keys, and ten times slower without optimization.
#[derive(Default)]
pub struct Mixer(u64);

impl Mixer {
    fn mix(&mut self, word: u64) {
        let product = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 29);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.mix(u64::from_le_bytes(word));
        }
        self.mix(bytes.len() as u64);
    }

    fn write_u8(&mut self, number: u8) {
        self.mix(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn hash_of(value: &impl Debug) -> u64 {
    let mut mixer = Mixer::default();
    mixer.write(format!("{value:?}").as_bytes());
    mixer.finish()
}
