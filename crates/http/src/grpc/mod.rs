//! Unary calls of gRPC as requests of HTTP routes: a route sees a POST with the message as its body, and its answer becomes that of the call.
//!
//! Therefore a call passes the checks of a request: host, origin, rate limits, permissions, audit log and the limits of bodies. `message` knows the
//! bytes of a message, `status` those of a status, and `call` makes a request of a call and an answer of an answer.
//! <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md> is the specification.

mod call;
mod error;
mod message;
mod status;

pub use call::{GrpcMethod, answer, is_call, response};
pub use status::GrpcStatus;
