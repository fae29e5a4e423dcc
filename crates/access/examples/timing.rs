//! Whether the time of a check tells something about a secret: `cargo run --release -p oasis-access --example timing`.
//!
//! Two kinds of attempts are made in a random order, and compared by Welch's t. As in dudect (Reparaz et al. 2017), the slowest attempts, which the
//! system interrupted, do not count, and |t| above 4.5 means that the kinds can be told apart.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use oasis_access::{Access, AccessConfig, HashCost, Moment, NewToken, StoredPassword};
use oasis_wire::quantity::Nanos;
use std::{hint::black_box, net::IpAddr, time::Instant};

/// Part of the attempts that counts, from the fastest on.
const COUNTED_SHARE: f64 = 0.9;
/// Between two attempts, so that none is slowed down on purpose.
const MINUTE: u64 = 60_000_000_000;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let access = Access::open(&folder.path().join("access"), &AccessConfig::default()).unwrap();
    let password = StoredPassword::new("ada", "correct horse battery", HashCost::default()).unwrap();
    let token = access
        .change(|accounts| {
            let now = Moment::now().wall;
            accounts.add_user(
                "ada".parse().unwrap(),
                Some(password),
                ["viewer".parse().unwrap()].into(),
                now,
            )?;
            let (name, roles) = ("kiosk".parse().unwrap(), ["viewer".parse().unwrap()].into());
            let new = NewToken { name, roles, owner: None, embed: false, scope: Vec::new(), expires: None };
            accounts.create_token(new, now)
        })
        .unwrap()
        .1;
    let right = token.reveal().to_owned();
    let with = |at: usize| {
        let mut wrong = right.clone().into_bytes();
        wrong[at] = if wrong[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(wrong).unwrap()
    };
    let (first, last) = (with(15), with(right.len() - 1));
    let now = Moment::now();
    let mut check = |token: &str| drop(black_box(access.token(black_box(token), now)));
    println!("| check | attempts of each kind | first kind, ns | second kind, ns | Welch's t |");
    println!("|---|---|---|---|---|");
    compare("token: wrong in its first letter or its last", 200_000, [&first, &last], &mut check);
    let unknown = format!("oasis_00000000{}", &right[14..]);
    compare("token: its number exists or not", 200_000, [&last, &unknown], &mut check);
    compare("token: the same wrong one twice", 200_000, [&first, &first], &mut check);
    let mut steady = now.steady.0;
    let address = IpAddr::from([192, 0, 2, 7]);
    let mut sign_in = |both: &str| {
        let (name, password) = both.split_once('/').unwrap();
        steady += MINUTE;
        let now = Moment { wall: now.wall, steady: Nanos(steady) };
        drop(black_box(access.sign_in(name, password, address, now)));
    };
    compare(
        "sign-in: user exists or not",
        300,
        ["ada/wrong horse battery", "eve/wrong horse battery"],
        &mut sign_in,
    );
    compare(
        "sign-in: password wrong in its first letter or its last",
        300,
        ["ada/Xorrect horse battery", "ada/correct horse batterX"],
        &mut sign_in,
    );
}

/// Measures both kinds in a random order, each from the same place in memory.
fn compare(what: &str, attempts: usize, inputs: [&str; 2], attempt: &mut impl FnMut(&str)) {
    let mut shown = String::with_capacity(256);
    let mut times = [Vec::with_capacity(attempts), Vec::with_capacity(attempts)];
    // A linear congruential generator (Knuth): the order must be mixed, no secret.
    let mut random = 1_u64;
    for _ in 0..attempts / 20 {
        attempt(inputs[0]);
    }
    while times.iter().any(|times| times.len() < attempts) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let kind = (random >> 63) as usize;
        shown.clear();
        shown.push_str(inputs[kind]);
        let start = Instant::now();
        attempt(&shown);
        let nanos = start.elapsed().as_nanos() as f64;
        if times[kind].len() < attempts {
            times[kind].push(nanos);
        }
    }
    let [first, second] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times.truncate((attempts as f64 * COUNTED_SHARE) as usize);
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, variance / count)
    });
    let t = (first.0 - second.0) / (first.1 + second.1).sqrt();
    println!("| {what} | {attempts} | {:.0} | {:.0} | {t:.1} |", first.0, second.0);
}
