//! Atomic integers of 64 bits for every processor.
//!
//! Processors without such instructions (ARMv5 and ARMv6, 32-bit PowerPC) get those of `portable_atomic`. On Linux for ARM they are
//! lock-free: the kernel lends a compare and exchange of 64 bits (`__kuser_cmpxchg64`). On others a lock of a few
//! instructions takes their place, and a ring is no longer wait-free.

#[cfg(not(target_has_atomic = "64"))]
pub use portable_atomic::AtomicU64;
#[cfg(target_has_atomic = "64")]
pub use std::sync::atomic::AtomicU64;
