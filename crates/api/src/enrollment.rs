//! Enrollment of nodes: a node sends its public key with a token, and receives a certificate of its name.

use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use oasis_access::{
    Access, ChangeError, Digest, EnrolledCertificate, Moment, NodeChangeError, StoreError, Target, Time, Verb,
};
use oasis_http::{
    Problem,
    permissions::{Caller, nanos},
};
use oasis_tls::{Authority, CertificateRequest, Lifetime, NodeCertificate};
use oasis_wire::{quantity::Nanos, time};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{fs, io};
use utoipa::ToSchema;

/// Refusal of a page of another site that tries to enroll a node.
const FOREIGN_ORIGIN_DETAIL: &str = "pages of other sites may not enroll nodes (doors.allowed_origins)";
/// Lifetime of a node's certificate, days.
const CERTIFICATE_DAYS: u32 = 397;

/// Materials with which a DAC enrolls nodes.
#[derive(Debug)]
pub struct Enrollment {
    authority: Authority,
    /// The authority's certificate, in PEM.
    ca: String,
    channel_port: u16,
}

impl Enrollment {
    /// Enrolls with this authority; `channel_port` is the port of the data channel.
    ///
    /// # Errors
    /// If the authority's certificate cannot be read.
    pub fn new(authority: Authority, channel_port: u16) -> io::Result<Self> {
        let ca = fs::read_to_string(authority.certificate())?;
        Ok(Self { authority, ca, channel_port })
    }
}

/// A node that wants a certificate.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EnrollRequest {
    /// Name of the node.
    name: String,
    /// Certificate request (PKCS #10) in PEM, with a key of the curve P-256 and the name as its only common name.
    request: String,
}

/// The certificate of a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct EnrollAnswer {
    /// The certificate, in PEM.
    certificate: String,
    /// The certificate of its authority, in PEM.
    ca: String,
    /// When it expires, RFC 3339.
    until: String,
    /// Port of the data channel, at the host of this request.
    channel_port: u16,
}

/// Issues a certificate for a node that shows a token for its name. A token of `oasis node token` can be used once.
#[utoipa::path(post, path = "/api/v1/nodes/enroll", request_body = EnrollRequest,
    responses((status = 200, body = EnrollAnswer), (status = 403, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
        (status = 501, body = Problem), (status = 503, body = Problem)))]
pub async fn enroll(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<EnrollAnswer>, Problem> {
    api.doors.admit(&headers, FOREIGN_ORIGIN_DETAIL)?;
    let EnrollRequest { name, request } = super::body(&body)?;
    if !caller.may(Verb::Enroll, Target::Node(&name)) {
        let detail = format!(
            "{} may not enroll node {name:?}: make a token for this name (oasis node token)",
            caller.principal()
        );
        return Err(Problem::new(StatusCode::FORBIDDEN, "enroll_forbidden", detail));
    }
    if let Some(copy) = api.doors.permissions.access.copy_state(Moment::now()) {
        return Err(refused(&StoreError::Follows { from: copy.source }));
    }
    let Some(enrollment) = api.enrollment.clone() else {
        let detail =
            "this DAC has no CA: start it with --ca-dir DIR (tls.ca_directory), the folder of oasis ca init";
        return Err(Problem::new(StatusCode::NOT_IMPLEMENTED, "no_authority", detail));
    };
    let request = CertificateRequest::parse(&request).map_err(|error| unusable(error.to_string()))?;
    if request.name != name || name.ends_with('*') {
        return Err(unusable(format!(
            "the request is for {:?}, and not for the node {name:?}",
            request.name
        )));
    }
    api.check_holder(&name, &request)?;
    let access = api.doors.permissions.access.clone();
    access
        .nodes()
        .check_new(&name, Digest::from_bytes(request.key), Moment::now().wall)
        .map_err(|error| refused(&error.into()))?;
    let arguments = json!({"key": Digest::from_bytes(request.key).to_string()});
    let principal = caller.principal().clone();
    let target = name.clone();
    let act = async move {
        let act = move || {
            // A name that no certificate can have costs no token.
            let certificate = enrollment.sign(&request)?;
            // The token is spent first: a token that two nodes have is for one of them.
            access.spend(&principal).map_err(|error| refused(&error))?;
            enrollment.register(&access, &name, certificate, principal.to_string())
        };
        let acted = tokio::task::spawn_blocking(act).await;
        acted.map_err(|error| failed(error.to_string()))?
    };
    api.doors.permissions.recorded(&caller, "node:enroll", target, arguments, act).await.map(Json)
}

impl Enrollment {
    fn sign(&self, request: &CertificateRequest) -> Result<String, Problem> {
        let signed = self.authority.sign_node(request, Lifetime::of_node(CERTIFICATE_DAYS));
        signed.map_err(|error| unusable(error.to_string()))
    }

    fn register(
        &self,
        access: &Access,
        name: &str,
        certificate: String,
        by: String,
    ) -> Result<EnrollAnswer, Problem> {
        let facts = NodeCertificate::of_pem(&certificate);
        let facts = facts.ok_or_else(|| failed("the issued certificate cannot be parsed".into()))?;
        let ends = Time(nanos(facts.ends));
        let enrolled = EnrolledCertificate {
            sha256: Digest::from_bytes(facts.fingerprint),
            key: Digest::from_bytes(facts.key),
            enrolled: Time(seconds(Moment::now().wall)),
            begins: Time(nanos(facts.begins)),
            ends,
            by,
            revoked: None,
        };
        access.enroll(name, enrolled).map_err(|error| refused(&error))?;
        let until = time::format_digits(ends.0.0, 0);
        Ok(EnrollAnswer { certificate, ca: self.ca.clone(), until, channel_port: self.channel_port })
    }
}

impl Api {
    /// Refuses a name that a connected node has with another key, which may have been enrolled elsewhere.
    fn check_holder(&self, name: &str, request: &CertificateRequest) -> Result<(), Problem> {
        let node = self.doors.dac.registry.node(name).filter(oasis_dac::Node::is_online);
        let holder = node.as_ref().and_then(oasis_dac::Node::certificate);
        if holder.is_none_or(|holder| holder.key == request.key) {
            return Ok(());
        }
        let detail = format!(
            "node {name:?} is connected with another key: revoke it first (oasis node revoke), or stop it"
        );
        Err(Problem::new(StatusCode::CONFLICT, "node_connected", detail))
    }
}

/// Whole seconds, as they are kept.
fn seconds(time: Nanos) -> Nanos {
    Nanos(time.0 - time.0 % 1_000_000_000)
}

fn unusable(detail: String) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "request_unusable", detail)
}

fn failed(detail: String) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "enroll_failed", detail)
}

fn refused(error: &StoreError) -> Problem {
    match error {
        StoreError::Change(ChangeError::Unknown { .. }) => {
            let detail = "the token was used before: make another one (oasis node token)";
            Problem::new(StatusCode::CONFLICT, "token_used", detail)
        }
        StoreError::Node(error @ (NodeChangeError::Enrolled { .. } | NodeChangeError::RevokedKey { .. })) => {
            Problem::new(StatusCode::CONFLICT, "node_enrolled", error.to_string())
        }
        StoreError::Follows { from } => {
            let detail = format!("this DAC has a copy of the accounts: enroll the node at {from}");
            Problem::new(StatusCode::CONFLICT, "accounts_copied", detail)
        }
        StoreError::Node(error @ NodeChangeError::Name) => unusable(error.to_string()),
        error => failed(error.to_string()),
    }
}
