//! The name of the current thread, looked up once.

use std::thread;

thread_local! {
    static NAME: String = {
        let current = thread::current();
        current.name().map_or_else(|| format!("{:?}", current.id()), str::to_owned)
    };
}

/// Calls `with` with the thread's name, or its number if it has none.
pub fn with_name<T>(with: impl Fn(&str) -> T) -> T {
    // A thread that is ending has no local storage any more.
    NAME.try_with(|name| with(name)).unwrap_or_else(|_| with(""))
}
