//! Variants of seeds: a driver that needs no other compiler. The same number gives the same variants.

use std::{
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
    time::{Duration, Instant},
};

/// Variants of all seeds in the normal suite.
const VARIANTS: u64 = 300;

/// Runs the seeds of a folder, then variants of them: 300, or as many as fit into `OASIS_FUZZ_SECONDS`.
pub fn run_seeds(folder: &Path, run: impl Fn(&[u8])) {
    let files = fs::read_dir(folder).expect("seeds").map(|file| file.expect("a seed").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|path| fs::read(path).expect("a seed")).collect();
    assert!(!seeds.is_empty(), "no seeds in {}", folder.display());
    for (path, seed) in files.iter().zip(&seeds) {
        eprintln!("{}", path.display());
        run(seed);
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    run_variants(&name, &seeds, VARIANTS, run);
}

/// Runs variants of seeds: this many, or as many as fit into `OASIS_FUZZ_SECONDS`. `name` is that of the file of a finding.
pub fn run_variants(name: &str, seeds: &[Vec<u8>], variants: u64, run: impl Fn(&[u8])) {
    let seconds = env::var("OASIS_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut number = 0;
    while end.map_or(number < variants, |end| Instant::now() < end) {
        number += 1;
        let input = variant(seeds, number);
        // Before it is run: it may end the process.
        let path = env::temp_dir().join(format!("oasis-fuzz-{name}"));
        if end.is_some() {
            fs::write(&path, &input).expect("a file");
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(&input))) {
            fs::write(&path, &input).expect("a file");
            eprintln!("found: {}", path.display());
            resume_unwind(panic);
        }
    }
    eprintln!("{number} variants");
}

/// A small generator (splitmix64): variants must not depend on anything else.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % sides.max(1) as u64) as usize
    }
}

fn variant(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut dice = Dice(number);
    let mut input = seeds[dice.roll(seeds.len())].clone();
    for _ in 0..=dice.roll(6) {
        let at = dice.roll(input.len() + 1);
        let end = (at + 1 + dice.roll(16)).min(input.len());
        match dice.roll(8) {
            0 if at < input.len() => input[at] ^= 1 << dice.roll(8),
            1 if at < input.len() => input[at] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b'-'][dice.roll(8)],
            2 => drop(input.drain(at..end)),
            3 => input.insert(at, dice.roll(256) as u8),
            4 => {
                let copy = input[at.min(end)..end].to_vec();
                let to = dice.roll(input.len() + 1);
                drop(input.splice(to..to, copy));
            }
            5 => {
                let other = &seeds[dice.roll(seeds.len())];
                let from = dice.roll(other.len() + 1);
                let part = other[from..(from + dice.roll(64)).min(other.len())].to_vec();
                drop(input.splice(at..end.max(at), part));
            }
            6 => input.truncate(at),
            _ => drop(input.splice(at..end.max(at), b"18446744073709551615".iter().copied())),
        }
    }
    input
}
