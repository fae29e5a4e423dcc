//! Memory and work grow in proportion to the size of a file, whatever its content.
//!
//! Work is measured in allocated bytes, which do not depend on the load of the machine. The allocator counts for each thread, so
//! the tests beside may run at the same time.

#[path = "../../benches/data/plant.rs"]
mod plant;

use oasis_pdl::compile;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    collections::HashMap,
    fmt::Write,
    path::PathBuf,
};

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
    static TOTAL: Cell<usize> = const { Cell::new(0) };
}

/// Counts the bytes of the thread that asks for them.
struct Counting;

// SAFETY: all is passed on to the system's allocator; the counters are plain cells that allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get().wrapping_add(layout.size()));
        TOTAL.set(TOTAL.get() + layout.size());
        PEAK.set(PEAK.get().max(LIVE.get()));
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub(layout.size()));
        // SAFETY: the caller keeps the rules of `dealloc`, and `alloc` gave what the system gave.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes at the peak, and in all, that compiling a text takes beside the text itself.
struct Cost {
    peak: usize,
    total: usize,
    errors: usize,
}

fn cost(text: &str) -> Cost {
    let files = HashMap::from([(PathBuf::from("example.pdl"), text.to_owned())]);
    let (before, so_far) = (LIVE.get(), TOTAL.get());
    PEAK.set(before);
    let report = compile(&["example.pdl".into()], &[], &files);
    Cost { peak: PEAK.get() - before, total: TOTAL.get() - so_far, errors: report.diagnostics.len() }
}

fn repeated(number: usize, piece: impl Fn(usize) -> String) -> String {
    (0..number).map(piece).collect()
}

/// Checks that four times the text costs at most four times as much, with some room for tables that double.
fn assert_linear(shape: &str, text: impl Fn(usize) -> String) {
    let sizes = [1_000, 4_000].map(|number| cost(&text(number)));
    let [small, large] = sizes;
    println!("{shape}: {} to {} bytes in all, {} errors", small.total, large.total, large.errors);
    assert!(large.total < small.total * 6, "{shape}: {} to {}", small.total, large.total);
    assert!(large.peak < small.peak * 6, "{shape}: {} to {}", small.peak, large.peak);
}

#[test]
fn memory_is_proportional_to_the_text() {
    let mut per_byte = Vec::new();
    for probes in [2_500, 5_000, 10_000] {
        let text = plant::plant(probes);
        let cost = cost(&text);
        assert_eq!(cost.errors, 0);
        let ratio = cost.peak as f64 / text.len() as f64;
        println!(
            "{probes} probes: {} bytes of text, {} at the peak, {ratio:.1} a byte",
            text.len(),
            cost.peak
        );
        per_byte.push(ratio);
    }
    let (least, most) = per_byte
        .iter()
        .fold((f64::MAX, 0.0_f64), |(least, most), &ratio| (least.min(ratio), most.max(ratio)));
    assert!(most < least * 1.3, "{per_byte:?}");
    assert!(most < 40.0, "{per_byte:?}");
}

#[test]
fn a_chain_of_structs_is_linear() {
    assert_linear("chain", |number| {
        repeated(number, |at| format!("struct S{at} {{ S{} next; }};\n", at + 1))
            + &format!("struct S{number} {{ uint8 last; }};\n")
    });
}

#[test]
fn a_chain_of_structs_to_a_cycle_is_linear() {
    assert_linear("chain to a cycle", |number| {
        repeated(number, |at| format!("struct S{at} {{ S{} next; }};\n", at + 1))
            + &format!("struct S{number} {{ S{number} itself; }};\n")
    });
}

#[test]
fn a_cycle_of_structs_is_linear() {
    assert_linear("cycle", |number| {
        repeated(number, |at| format!("struct S{at} {{ S{} next; }};\n", (at + 1) % number))
    });
}

#[test]
fn a_chain_of_empty_probes_is_linear() {
    assert_linear("bases", |number| {
        repeated(number, |at| format!("abstract probe P{at} : P{} {{ }};\n", at + 1))
            + &format!("abstract probe P{number} {{ uint8 last; }};\n")
    });
}

#[test]
fn many_unknown_names_are_linear() {
    assert_linear("unknown", |number| {
        repeated(number, |at| format!("struct S{at} {{ Unknown{at} next; }};\n"))
    });
}

#[test]
fn inherited_metrics_have_a_bound() {
    let mut text = String::from("abstract probe Base {\n");
    for at in 0..10_000 {
        writeln!(text, "  uint8 m{at};").expect("a String takes any text");
    }
    text.push_str("};\n");
    let derived =
        |number| text.clone() + &repeated(number, |at| format!("abstract probe P{at} : Base {{ }};\n"));
    assert_eq!(cost(&derived(100)).errors, 0);
    let beyond = cost(&derived(2_000));
    assert_eq!(beyond.errors, 1);
    assert!(beyond.peak < 1 << 30, "{}", beyond.peak);
}
