//! Counts the memory of the current thread, so that the tests beside may run at the same time.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Counts the bytes of the thread that asks for them.
struct Counting;

// SAFETY: all is passed on to the system's allocator; the counters are plain cells that allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.get().wrapping_add_unsigned(layout.size());
        LIVE.set(live);
        PEAK.set(PEAK.get().max(live));
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub_unsigned(layout.size()));
        // SAFETY: the caller keeps the rules of `dealloc`, and `alloc` returned what the system returned.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the most bytes that a call had at once, besides those before.
pub fn peak_bytes(call: impl FnOnce()) -> usize {
    LIVE.set(0);
    PEAK.set(0);
    call();
    PEAK.get().unsigned_abs()
}
