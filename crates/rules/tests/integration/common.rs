//! A plant whose samples rules read.

use oasis_rules::{Report, compile};
use oasis_wire::schema::ProbeType;
use std::{collections::HashMap, path::PathBuf, sync::Arc};

const PLANT: &str = r#"
module Plant {
  enum State { CLOSED, OPEN, FAILED };
  struct Pose { [unit("m")] real64 x; };
  [uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa); rate(demand, 1, 100)]
  probe Pump {
    [unit("Cel")] real64 temperature;
    [unit("mm/s")] real32 vibration;
    [unit("l/min")] real64 flow;
    State state;
    boolean pressed;
    [kind(counter)] uint64 starts;
    string name;
    Pose pose;
    vector<real64> spectrum;
  };
  [uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7ab)]
  probe Wheel { [unit("m/s")] real64 speed; };
};
"#;

pub fn types() -> Vec<Arc<ProbeType>> {
    let path = PathBuf::from("plant.pdl");
    let files = HashMap::from([(path.clone(), PLANT.to_owned())]);
    let report = oasis_pdl::compile(&[path], &[], &files);
    assert!(report.is_ok(), "{}", report.render(false));
    let probes = report.model.probes.iter();
    let schemas = probes.filter_map(|probe| oasis_pdl_gen::json_schema::schema(&report.model, probe));
    schemas.map(Arc::new).collect()
}

pub const INPUTS: &str =
    "input pump = \"*/pump*\" : Plant::Pump;\ninput wheel = \"*/wheel\" : Plant::Wheel;\n";

/// Compiles rules after two inputs.
pub fn compiled(rules: &str) -> Report {
    compile("plant.rules".as_ref(), &format!("{INPUTS}{rules}"), &types())
}

/// All errors as people see them.
pub fn rendered(report: &Report) -> String {
    let errors = report.diagnostics.iter().map(|wrong| wrong.render(&report.sources, false));
    errors.collect::<Vec<_>>().join("\n\n")
}
