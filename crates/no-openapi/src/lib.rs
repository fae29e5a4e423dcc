//! Attributes of [utoipa](https://docs.rs/utoipa) without effect.
//!
//! A DAC serves `docs/reference/openapi.json`, a file. The code that makes this document from the sources is compiled for the test that compares both:
//! crates with described routes have a feature `openapi` that takes the real utoipa, and without it
//!
//! ```ignore
//! #[cfg(not(feature = "openapi"))]
//! extern crate oasis_no_openapi as utoipa;
//! ```

use proc_macro::TokenStream;

/// Stands for `#[utoipa::path(…)]`: returns the function as it is.
#[proc_macro_attribute]
pub fn path(_description: TokenStream, function: TokenStream) -> TokenStream {
    function
}

/// Stands for `#[derive(ToSchema)]`: derives nothing.
#[proc_macro_derive(ToSchema, attributes(schema))]
pub fn to_schema(_type: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Stands for `#[derive(IntoParams)]`: derives nothing.
#[proc_macro_derive(IntoParams, attributes(into_params, param))]
pub fn into_params(_type: TokenStream) -> TokenStream {
    TokenStream::new()
}
