//! The node's threads survive panics: a thread that ended would end the instrumentation without notice.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
    time::Duration,
};

/// Pause after a panic, so that one that comes again and again costs little.
const RESTART_DELAY: Duration = Duration::from_millis(100);

/// Calls one turn of a thread's work. Returns none after a panic, which it logs.
pub fn turn<T>(work: &str, turn: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(turn)) {
        Ok(result) => Some(result),
        Err(panic) => {
            tracing::error!(
                work,
                panic = message_of(&*panic),
                "a thread of the node has panicked: it goes on"
            );
            thread::sleep(RESTART_DELAY);
            None
        }
    }
}

/// Calls what may fail. A panic is an error like any other.
pub fn call<T>(call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| Err(io::Error::other(format!("panicked: {}", message_of(&*panic)))))
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_no_result_or_an_error() {
        assert_eq!(turn("test", || 7), Some(7));
        assert_eq!(turn("test", || -> u8 { panic!("planted") }), None);
        assert_eq!(call(|| Ok(7)).unwrap(), 7);
        let error = call(|| -> io::Result<u8> { panic!("planted {}", 1) }).unwrap_err();
        assert_eq!(error.to_string(), "panicked: planted 1");
    }
}
