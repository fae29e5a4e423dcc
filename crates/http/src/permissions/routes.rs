//! The route table: each route says who may use it, where it is declared. There is no way to add one that does not.

use super::enforce::{Point, enforce};
use crate::{HttpContext, rate_limits::Cost};
use axum::{
    Router,
    handler::Handler,
    http::Method,
    middleware::from_fn_with_state,
    routing::{MethodFilter, on},
};
use oasis_access::{Target, Verb};
use std::sync::Arc;

/// Permissions that the caller of a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// Nothing: strangers may use it.
    Nothing,
    /// One of these verbs on something. The handler asks for each instance, and leaves out what the caller may not see.
    Somewhere(&'static [Verb]),
    /// One of these verbs on everything.
    Everywhere(&'static [Verb]),
}

impl Requirement {
    /// Returns the verbs, one of which is needed.
    pub fn verbs(self) -> &'static [Verb] {
        match self {
            Self::Nothing => &[],
            Self::Somewhere(verbs) | Self::Everywhere(verbs) => verbs,
        }
    }

    /// Returns the target on which it is needed.
    pub fn target(self) -> Target<'static> {
        if matches!(self, Self::Everywhere(_)) { Target::Dac } else { Target::SomeOfDac }
    }
}

/// A route of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The method. GET serves HEAD as well.
    pub method: Method,
    /// The path, as in OpenAPI.
    pub path: &'static str,
    /// Permissions that its caller needs.
    pub requires: Requirement,
}

/// Routes with their requirements.
#[derive(Debug)]
pub struct Routes<S> {
    context: HttpContext,
    router: Router<S>,
    table: Vec<Route>,
}

/// Declares methods: the function's name, and the method.
macro_rules! methods {
    ($($name:ident $method:ident,)*) => {
        impl<S: Clone + Send + Sync + 'static> Routes<S> {
            $(
                /// Adds a route for this method.
                #[must_use]
                pub fn $name<T: 'static>(
                    self,
                    path: &'static str,
                    requires: Requirement,
                    handler: impl Handler<T, S>,
                ) -> Self {
                    self.add(MethodFilter::$method, Route { method: Method::$method, path, requires }, handler)
                }
            )*
        }
    };
}

methods! {
    get GET,
    post POST,
    put PUT,
    patch PATCH,
    delete DELETE,
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    /// No routes.
    pub fn new(context: &HttpContext) -> Self {
        Self { context: context.clone(), router: Router::new(), table: Vec::new() }
    }

    fn add<T: 'static>(mut self, filter: MethodFilter, route: Route, handler: impl Handler<T, S>) -> Self {
        let cost = Cost::of(route.path);
        let point = Point { context: self.context.clone(), requires: route.requires, cost };
        let checked = on(filter, handler).route_layer(from_fn_with_state(Arc::new(point), enforce));
        self.router = self.router.route(route.path, checked);
        self.table.push(route);
        self
    }

    /// Adds the routes of another table.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.table.extend(other.table);
        self
    }

    /// Gives all handlers their state.
    pub fn with_state<S2: Clone + Send + Sync + 'static>(self, state: S) -> Routes<S2> {
        Routes { context: self.context, router: self.router.with_state(state), table: self.table }
    }

    /// Returns the table.
    pub fn table(&self) -> &[Route] {
        &self.table
    }

    /// Returns the router.
    pub fn into_router(self) -> Router<S> {
        self.router
    }
}
