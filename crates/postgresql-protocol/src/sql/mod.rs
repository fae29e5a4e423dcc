//! PostgreSQL's SQL: split into statements, understood where SQLite has no such thing, and translated otherwise.

mod cast;
mod context;
mod operand;
mod pattern;
mod rewrite;
mod select_list;
mod statement;
mod table_function;
mod times;
mod token;
mod tree;

pub use context::{Context, context, parameter_contexts, parameters};
pub use rewrite::translate;
pub use statement::{Act, Statement, statements};
pub use token::{Kind, Token};
pub use tree::Rendered;
