//! The probe types that inputs name.

use super::{arguments::Types, recording};
use crate::diagnostics::{MessageFormat, explain};
use anyhow::Context;
use oasis_pdl::Disk;
use oasis_pdl_gen::json_schema;
use oasis_store::History;
use oasis_wire::schema::ProbeType;
use std::sync::Arc;

impl Types {
    /// Returns the types of the PDL files, or those of the MCAP files or of the archive; none after errors in PDL files, which were reported.
    ///
    /// # Errors
    /// If an MCAP file or the archive cannot be read, or none is named.
    pub fn load(&self, format: MessageFormat) -> anyhow::Result<Option<Vec<Arc<ProbeType>>>> {
        if !self.mcap.is_empty() {
            return recording::types(&self.mcap).map(Some);
        }
        if self.pdl.is_empty() {
            let archive = self.archive.find().context(
                "no probe types: name PDL files with --pdl, an MCAP file with --mcap, or an archive",
            )?;
            return Ok(Some(History::open(&archive)?.types()?));
        }
        let report = oasis_pdl::compile(&self.pdl, &self.include, &Disk);
        explain(&report.diagnostics, &report.sources, format);
        if !report.is_ok() {
            return Ok(None);
        }
        let model = &report.model;
        let types = model.probes.iter().filter_map(|probe| json_schema::schema(model, probe));
        Ok(Some(types.map(Arc::new).collect()))
    }
}
