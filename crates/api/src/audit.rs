//! The accounting identity of every instance.

use crate::{
    Api,
    read::{InstanceFilter, chosen},
};
use axum::{
    Extension, Json,
    extract::{Query, State, rejection::QueryRejection},
};
use oasis_dac::{Audit, Instance};
use oasis_http::{Problem, permissions::Caller};
use oasis_wire::quantity::Epoch;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditReport {
    /// The samples of this epoch are audited.
    #[schema(value_type = String)]
    epoch: Epoch,
    /// Sum over all instances; 0 unless something is wrong.
    undeclared: u64,
    instances: Vec<InstanceAudit>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct InstanceAudit {
    node: String,
    instance: String,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    audit: Audit,
    /// Its samples in the archive; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<ArchiveAudit>,
}

/// Received samples by what the archive did with them.
#[derive(Debug, Serialize, ToSchema)]
pub struct ArchiveAudit {
    /// Stored.
    stored: u64,
    /// Declared lost.
    missing: u64,
    /// Received, and neither of both yet.
    waiting: u64,
    /// None of these. Must be 0.
    undeclared: u64,
}

/// Checks of every instance that each generated sample is received, declared lost, or not received yet.
#[utoipa::path(get, path = "/api/v1/audit", params(InstanceFilter),
    responses((status = 200, body = AuditReport), (status = 400, body = Problem)))]
pub async fn audit(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    filter: Result<Query<InstanceFilter>, QueryRejection>,
) -> Result<Json<AuditReport>, Problem> {
    let Query(filter) = super::understood(filter)?;
    let doors = &api.doors;
    // Each DAC audits its own.
    let instances: Vec<_> = chosen(doors, &caller, &filter)
        .iter()
        .filter(|instance| !instance.is_relayed())
        .map(|instance| InstanceAudit {
            node: instance.node.as_ref().into(),
            instance: instance.name.as_ref().into(),
            audit: Audit::of(instance),
            archive: archived(&api, instance),
        })
        .collect();
    let undeclared = instances.iter().map(InstanceAudit::undeclared).sum();
    Ok(Json(AuditReport { epoch: doors.dac.epoch(), undeclared, instances }))
}

impl InstanceAudit {
    fn undeclared(&self) -> u64 {
        self.audit.undeclared + self.archive.as_ref().map_or(0, |archive| archive.undeclared)
    }
}

fn archived(api: &Api, instance: &Instance) -> Option<ArchiveAudit> {
    let account = api.doors.archived.archive.as_ref()?.account(instance.topic)?;
    // Read after the account, so that it cannot be smaller.
    let next = instance.log.next();
    let settled = account.stored_offset.0.saturating_sub(instance.log.start().0);
    Some(ArchiveAudit {
        stored: account.stored,
        missing: account.missing,
        waiting: next.0.saturating_sub(account.stored_offset.0),
        undeclared: settled.saturating_sub(account.stored.saturating_add(account.missing)),
    })
}
