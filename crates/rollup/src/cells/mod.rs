//! Aggregated samples: minimum, maximum, mean and last value of each number in each time interval. Roll-ups store such cells, and points are made of them.
//!
//! `number` and `summary` aggregate values, `leaves` are the values of a sample, `run` are samples without what they lack, `cell` is one time interval and [`Cells`] many of one width;
//! `level` defines the cell widths of roll-ups, and [`schema`] encodes a cell as a sample.

mod cell;
#[expect(clippy::module_inception, reason = "the folder is named for the type")]
mod cells;
mod leaves;
mod level;
mod number;
mod run;
pub mod schema;
mod summary;

pub use cell::{Cell, Track};
pub use cells::Cells;
pub use leaves::Leaf;
pub use level::Level;
pub use number::Number;
pub use schema::Plan;
pub use summary::Summary;
