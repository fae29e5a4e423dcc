//! Tickets for WebSockets of pages that cannot send a header.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_access::{Moment, TicketError};
use oasis_doors::Doors;
use oasis_http::{Problem, permissions::Caller};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct Ticket {
    /// For the URL of one WebSocket within 30 s: `/ws?ticket=…`
    ticket: String,
}

/// A ticket that opens one WebSocket within 30 s, from a page of the same origin, with the rights of the caller.
#[utoipa::path(post, path = "/api/v1/tickets",
    responses((status = 200, body = Ticket), (status = 400, body = Problem), (status = 429, body = Problem), (status = 503, body = Problem)))]
pub async fn make(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    doors.admit(&headers, "pages of other sites may not fetch tickets (doors.allowed_origins)")?;
    if !caller.principal().has_signed_in() {
        let detail =
            "a ticket is for a caller with a token or a session; others open the WebSocket without one";
        return Err(Problem::new(StatusCode::BAD_REQUEST, "no_ticket_needed", detail));
    }
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let ticket = doors.permissions.access.ticket(caller.principal(), origin, Moment::now());
    let ticket = ticket.map_err(|error| refused(&error))?.reveal().to_owned();
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(Ticket { ticket })).into_response())
}

fn refused(error: &TicketError) -> Problem {
    let (status, code) = match error {
        TicketError::TooManyOfOne => (StatusCode::TOO_MANY_REQUESTS, "too_many_tickets"),
        TicketError::TooMany => (StatusCode::SERVICE_UNAVAILABLE, "too_many_tickets"),
        TicketError::Random(_) => (StatusCode::INTERNAL_SERVER_ERROR, "tickets"),
    };
    Problem::new(status, code, error.to_string())
}
