//! Samples in figures, by time: least, greatest, mean and last value of each number in each stretch. Roll-ups store such cells, and points are made of them.
//!
//! `number` and `summary` are what remains of many values, `leaves` the values that a sample has, `cell` one stretch of time and [`Cells`] many of one width;
//! `level` is how wide cells of roll-ups are, and [`schema`] how a cell is written as a sample.

mod cell;
#[expect(clippy::module_inception, reason = "the folder is named for the type")]
mod cells;
mod leaves;
mod level;
mod number;
pub mod schema;
mod summary;

pub use cell::{Cell, Track};
pub use cells::Cells;
pub use leaves::Leaf;
pub use level::Level;
pub use number::Number;
pub use schema::Plan;
pub use summary::Summary;
