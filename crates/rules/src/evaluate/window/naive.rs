//! Windows that read all their samples for each answer: the oracle of those that keep totals.

use super::{super::exact::ExactSum, *};
use proptest::prelude::*;

/// A sample: nanoseconds after the one before, value, and samples missing before it.
type Step = (u64, f64, u64);

/// All samples so far, the newest one last, with their times.
fn past(steps: &[Step]) -> Vec<Entry> {
    let mut time = 0;
    let entry = |&(later, value, missing): &Step| {
        time += later;
        Entry { time, value, missing }
    };
    steps.iter().map(entry).collect()
}

/// The samples of a window, and the length of the gap before the first one.
fn samples(past: &[Entry], size: WindowSize, capacity: usize, keeps_base: bool) -> (&[Entry], u64) {
    let since = past.iter().rposition(|entry| entry.missing == RESTART).unwrap_or(0);
    let now = past.last().map_or(0, |entry| entry.time);
    let is_young = |entry: &Entry| match size {
        WindowSize::Last(_) => true,
        WindowSize::Time(extent, _) => entry.time + extent > now,
    };
    let young = past[since..].iter().take_while(|entry| !is_young(entry)).count() + since;
    let first = if keeps_base { young.saturating_sub(1).max(since) } else { young };
    let kept = first.max(past.len().saturating_sub(capacity));
    // By the number of samples, those before it are not a part.
    let is_cut = kept > first && matches!(size, WindowSize::Time(..));
    (&past[kept..], if is_cut { RESTART } else { past[kept].missing })
}

fn aggregate(of: (&[Entry], u64), size: WindowSize, aggregate: Aggregate) -> f64 {
    let (entries, before) = of;
    let is_whole = match size {
        WindowSize::Last(count) => entries.len() == count as usize,
        WindowSize::Time(..) => before == 0,
    };
    let values: Vec<f64> = entries.iter().map(|entry| entry.value).collect();
    if !is_whole
        || entries[1..].iter().any(|entry| entry.missing > 0)
        || values.iter().any(|value| value.is_nan())
    {
        return f64::NAN;
    }
    let sum = || {
        let mut sum = ExactSum::new();
        values.iter().for_each(|value| sum.add(*value));
        sum.value()
    };
    let found = match aggregate {
        Aggregate::Mean => sum() / values.len() as f64,
        Aggregate::Sum => sum(),
        Aggregate::Min => values.into_iter().min_by(f64::total_cmp).unwrap(),
        Aggregate::Max => values.into_iter().max_by(f64::total_cmp).unwrap(),
    };
    known(found)
}

fn tally((entries, before): (&[Entry], u64), size: WindowSize) -> Tally {
    let mut left = match size {
        WindowSize::Last(count) => u128::from(count),
        WindowSize::Time(..) => u128::MAX,
    };
    let (mut least, mut most) = (0, 0_u128);
    for (at, entry) in entries.iter().enumerate().rev() {
        if left == 0 {
            break;
        }
        least += u64::from(entry.value == 1.0);
        most += u128::from(entry.value != 0.0);
        left -= 1;
        let missing = left.min(u128::from(if at == 0 { before } else { entry.missing }));
        most += missing;
        left -= missing;
    }
    Tally { least, most: u64::try_from(most).unwrap_or(u64::MAX) }
}

fn rate((entries, _): (&[Entry], u64), size: WindowSize, is_counter: bool) -> f64 {
    let (base, newest) = (entries[0], entries[entries.len() - 1]);
    let reaches_back = match size {
        WindowSize::Last(count) => entries.len() == count as usize,
        WindowSize::Time(extent, _) => newest.time - base.time >= extent,
    };
    let is_whole = entries[1..].iter().all(|entry| entry.missing == 0);
    let falls = is_counter && entries.windows(2).any(|pair| pair[1].value < pair[0].value);
    if !reaches_back
        || !is_whole
        || falls
        || entries.iter().any(|entry| entry.value.is_nan())
        || newest.time == base.time
    {
        return f64::NAN;
    }
    known((newest.value - base.value) / ((newest.time - base.time) as f64 / 1e9))
}

const AGGREGATES: [Aggregate; 4] = [Aggregate::Mean, Aggregate::Min, Aggregate::Max, Aggregate::Sum];

/// An answer as bits, so that unknown ones are equal.
type Answer = (u64, u64);

fn answer(window: &Window) -> Answer {
    let end = window.newest_time();
    match window.purpose {
        Purpose::Aggregate(of) => (window.aggregate(of).to_bits(), 0),
        Purpose::Tally => {
            let Tally { least, most } = window.tally();
            (least, most)
        }
        Purpose::Rate => (window.rate(false, end).to_bits(), window.rate(true, end).to_bits()),
    }
}

fn naive_answer(past: &[Entry], size: WindowSize, capacity: usize, purpose: Purpose) -> Answer {
    let samples = samples(past, size, capacity, purpose == Purpose::Rate);
    match purpose {
        Purpose::Aggregate(of) => (aggregate(samples, size, of).to_bits(), 0),
        Purpose::Tally => {
            let Tally { least, most } = tally(samples, size);
            (least, most)
        }
        Purpose::Rate => (rate(samples, size, false).to_bits(), rate(samples, size, true).to_bits()),
    }
}

fn new(size: WindowSize, capacity: usize, purpose: Purpose) -> (Window, Slot) {
    let slot = Slot::Window { size, capacity: capacity as u32, purpose };
    let Memory::Window(window) = Memory::new(slot) else { panic!("a window") };
    (window, slot)
}

fn restored(window: Window, slot: Slot) -> Window {
    let bytes = postcard::to_allocvec(&Memory::Window(window).save()).unwrap();
    let Some(Memory::Window(restored)) = Memory::restore(slot, postcard::from_bytes(&bytes).unwrap()) else {
        panic!("a window")
    };
    assert_eq!(postcard::to_allocvec(&Memory::Window(restored.clone()).save()).unwrap(), bytes);
    restored
}

fn windows() -> impl Strategy<Value = (WindowSize, usize, Purpose)> {
    let last = (1..30_u32).prop_map(|count| (WindowSize::Last(count), count as usize));
    let time = (1..60_u64, 1..30_u32)
        .prop_map(|(extent, most)| (WindowSize::Time(extent, Some(most)), most as usize));
    let purpose = prop_oneof![
        4 => prop::sample::select(AGGREGATES.to_vec()).prop_map(Purpose::Aggregate),
        3 => Just(Purpose::Tally),
        2 => Just(Purpose::Rate),
    ];
    (prop_oneof![last, time], purpose).prop_map(|((size, capacity), purpose)| (size, capacity, purpose))
}

/// Values of conditions for tallies; others of all magnitudes, and some that are often equal.
fn steps(purpose: Purpose) -> impl Strategy<Value = Vec<Step>> {
    let condition = prop_oneof![5 => Just(0.0), 5 => Just(1.0), 1 => Just(f64::NAN)];
    let special =
        vec![0.1, 0.2, 0.3, -0.7, 1e16, -1e16, 1e300, -1e300, 5e-324, -0.0, 0.0, f64::MAX, f64::NAN];
    let number =
        prop_oneof![6 => (-3..6_i8).prop_map(f64::from), 3 => prop::sample::select(special), 1 => -1e3..1e3];
    let value = if purpose == Purpose::Tally { condition.boxed() } else { number.boxed() };
    let missing = prop_oneof![30 => Just(0), 2 => 1..4_u64, 1 => Just(RESTART)];
    let missing = (missing, any::<bool>())
        .prop_map(move |(missing, often)| if often || purpose == Purpose::Tally { missing } else { 0 });
    let later = prop_oneof![5 => 0..4_u64, 1 => 0..40_u64];
    prop::collection::vec((later, value, missing), 1..120)
}

fn window_and_steps() -> impl Strategy<Value = ((WindowSize, usize, Purpose), Vec<Step>)> {
    windows().prop_flat_map(|window| (Just(window), steps(window.2)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Also after a window was saved and restored.
    #[test]
    fn totals_answer_as_a_look_at_all_samples(
        ((size, capacity, purpose), steps) in window_and_steps(), restores in prop::collection::vec(prop::bool::weighted(0.1), 1..9)
    ) {
        let (mut window, slot) = new(size, capacity, purpose);
        let past = past(&steps);
        for (at, entry) in past.iter().enumerate() {
            window.push(entry.time, entry.value, entry.missing);
            if restores[at % restores.len()] {
                window = restored(window, slot);
            }
            let expected = naive_answer(&past[..=at], size, capacity, purpose);
            prop_assert_eq!(answer(&window), expected, "{} of {:?} {:?} at {}", capacity, size, purpose, at);
        }
    }

    /// A window that began later knows less, but nothing else. Once all of it has come after its beginning, it is the same.
    #[test]
    fn an_answer_does_not_depend_on_where_a_window_began(
        ((size, capacity, purpose), steps) in window_and_steps(), later in 0..60_usize
    ) {
        let (mut early, _) = new(size, capacity, purpose);
        let (mut late, _) = new(size, capacity, purpose);
        let later = later % steps.len();
        let past = past(&steps);
        for (at, entry) in past.iter().enumerate() {
            early.push(entry.time, entry.value, entry.missing);
            if at < later {
                continue;
            }
            late.push(entry.time, entry.value, if at == later { RESTART } else { entry.missing });
            let (one, other) = (answer(&early), answer(&late));
            let has_all = match size {
                WindowSize::Last(count) => at - later >= count as usize,
                WindowSize::Time(extent, _) => past[later].time + extent < entry.time,
            };
            let is_narrower = match purpose {
                Purpose::Tally => other.0 <= one.0 && one.1 <= other.1,
                _ => [(one.0, other.0), (one.1, other.1)].iter().all(|(one, other)| one == other || f64::from_bits(*other).is_nan()),
            };
            prop_assert!(is_narrower, "{:?} became {:?}", other, one);
            if has_all {
                prop_assert_eq!(one, other);
            }
        }
    }
}
