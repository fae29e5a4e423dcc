//! Panics of the libraries, which some defective files cause, become errors without a message of the process.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

static HOOK: Once = Once::new();

thread_local! {
    /// Whether the thread is in a call whose panics become errors.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Calls a library. A panic for a defective file becomes an error; the hook for panics, which prints a message, is not called for it.
pub fn caught<T, E: ToString>(call: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    HOOK.call_once(|| {
        let other = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                other(panic);
            }
        }));
    });
    IS_CAUGHT.set(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    IS_CAUGHT.set(false);
    match result {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("defective data".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, process::Command};

    /// Set in the process whose output is checked.
    const IS_CHILD: &str = "OASIS_TEST_PANIC";

    #[test]
    fn a_panic_of_a_library_is_an_error_and_prints_nothing() {
        if env::var_os(IS_CHILD).is_some() {
            let result = caught(|| -> Result<(), String> { panic!("of a library") });
            assert_eq!(result, Err("defective data".to_owned()));
            panic!("of the program");
        }
        let name = concat!(module_path!(), "::a_panic_of_a_library_is_an_error_and_prints_nothing");
        let name = name.split_once("::").map_or(name, |(_, name)| name);
        let mut child = Command::new(env::current_exe().unwrap());
        let done = child.args(["--exact", name, "--nocapture"]).env(IS_CHILD, "1").output().unwrap();
        let printed = String::from_utf8_lossy(&done.stderr);
        assert!(!printed.contains("of a library") && printed.contains("of the program"), "{printed}");
    }
}
