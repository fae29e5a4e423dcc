//! One set of accounts for several DACs: one keeps them, others have copies.

mod copy;
mod files;
mod follower;
mod source;

#[cfg(test)]
mod tests;

pub use copy::{AccountsCopy, CopyError, MAX_COPY_BYTES, Position, PositionError};
pub(crate) use follower::Follower;
pub use follower::{CopyState, FollowError};
pub(crate) use source::NumberedState;
