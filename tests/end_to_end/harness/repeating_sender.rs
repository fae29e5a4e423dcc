//! A sender that repeats each request until it is answered, while the DAC is killed again and again.

use super::{Oasis, POLL_INTERVAL, SetOnDrop, eventually, kills, own_address};
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

/// Kills in a usual run.
const KILLS: u32 = 4;

/// Starts a DAC with these options at an address that stays the same, and kills it while requests are on their way. `send` sends the request of this
/// number to the address, and returns whether it was acknowledged. Returns how many were.
pub fn kill_beneath(options: &[&str], send: impl Fn(&str, u64) -> bool + Sync) -> u64 {
    let (acknowledged, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let (http, channel) = (own_address(), own_address());
    thread::scope(|scope| {
        let sender = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let number = acknowledged.load(Ordering::Relaxed);
                if send(&http, number) {
                    acknowledged.store(number + 1, Ordering::Relaxed);
                } else {
                    thread::park_timeout(POLL_INTERVAL);
                }
            }
        });
        let over = SetOnDrop(&is_over);
        let more = |count: u64| {
            let before = acknowledged.load(Ordering::Relaxed);
            eventually("acknowledged requests", || {
                (acknowledged.load(Ordering::Relaxed) >= before + count).then_some(())
            });
        };
        for kill in 0..kills(KILLS) {
            let dac = Oasis::dac_at(&http, &channel, options);
            more(2 + u64::from(kill % 5));
            dac.kill();
        }
        let _last = Oasis::dac_at(&http, &channel, options);
        more(1);
        drop(over);
        // Its last request is answered before the DAC ends.
        sender.join().unwrap();
    });
    acknowledged.load(Ordering::Relaxed)
}
