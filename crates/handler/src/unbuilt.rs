//! Handlers that a program was built without.

use crate::{Context, Failure, Handler};
use serde_json::Value;

/// Stands for a handler that the program was built without. No value of it exists: its section is refused with the feature to build.
#[derive(Debug)]
pub enum Unbuilt {}

impl Handler for Unbuilt {
    fn name(&self) -> &'static str {
        match *self {}
    }

    fn run(&self, _: Context) -> Result<(), Failure> {
        match *self {}
    }

    fn state(&self) -> Value {
        match *self {}
    }
}
