//! Samples in figures by time. No files and no clocks.
//!
//! [`cells`] have minimum, maximum, mean and last value of each number in each time interval; roll-up files of an archive store such cells. [`points`] are the
//! history of an instance in cells of one width, with missing samples and the position after the last one.
//!
//! ```
//! use oasis_rollup::{cells::Level, points::{Points, Span}};
//!
//! let hour = Span { from: 0, to: 3_600_000_000_000, is_open: false, points: 60 };
//! let points = Points::new(hour, Level::Raw);
//! assert_eq!(points.cells.step(), Level::Minute.width());
//! ```

pub mod cells;
pub mod points;
