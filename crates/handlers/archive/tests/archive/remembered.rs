//! Stored nodes and instances as a DAC knows them after a start, and entries that the catalogue forgets with their last
//! samples.

use super::segment_files;
use crate::{
    plant::{Node, Plant, STEP, config, counter, counter_of},
    rollups::{eventually, rollup_files, small_files, wait_for_rollups},
};
use oasis_dac::{Config, Dac, Instance, Node as Known};
use oasis_recordings::import::Import;
use oasis_store::{ArchiveConfig, History, RetentionRule};
use oasis_wire::probe_kind::ProbeKind;
use std::{fs, path::Path, sync::Arc};
use tokio::runtime::Runtime;
use uuid::Uuid;

const ROOM: usize = 8 * 1024 * 1024;

/// Returns the knowledge of a DAC that begins with this archive.
fn known(folder: &Path) -> (Vec<Known>, Vec<Arc<Instance>>) {
    let runtime = Runtime::new().unwrap();
    let _in_it = runtime.enter();
    let dac = Dac::new(Config::default());
    let opened = oasis_store::open(config(folder)).unwrap();
    let remembered = oasis_archive::restore(&opened, &dac.registry).unwrap();
    let instances = dac.registry.instances();
    assert_eq!((remembered.instances, remembered.left_out), (instances.len(), 0));
    (dac.registry.nodes(), instances)
}

#[test]
fn a_node_that_was_there_is_known_with_the_type_that_it_had_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 2);
    plant.change_type();
    plant.fill(&mut node, 2);
    let seen = plant.dac.registry.node("plant").unwrap().last_heard;
    plant.stop();
    let (nodes, instances) = known(folder.path());
    let [node] = &nodes[..] else { panic!("{nodes:?}") };
    assert!(node.is_remembered && !node.is_online());
    assert_eq!((node.identity.host.as_str(), node.identity.run), ("h", Uuid::from_u128(1)));
    assert!(node.since <= seen, "{} and {seen}", node.since);
    let [instance] = &instances[..] else { panic!("{instances:?}") };
    assert_eq!((&*instance.probe_type.name, instance.kind), ("Other", ProbeKind::Pushed));
}

#[test]
fn imported_instances_are_known_by_names_and_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut import = Import::begin(oasis_store::open(config(folder.path())).unwrap()).unwrap();
    let series = counter_of("drive", 3);
    import.add(&series, &Node::new(1).batch(1, 0, 40)).unwrap();
    import.finish().unwrap();
    let (nodes, instances) = known(folder.path());
    assert_eq!((nodes.len(), instances.len()), (1, 1));
    assert_eq!((nodes[0].identity.host.as_str(), nodes[0].since.0), ("", 39 * STEP));
    assert_eq!((&*instances[0].node, &*instances[0].name), ("drive", "counter"));
}

#[test]
fn instances_with_only_roll_ups_are_known_and_those_without_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    plant.fill(&mut node, 30);
    wait_for_rollups(&plant);
    plant.stop();
    let retention = vec![RetentionRule { instances: "*".into(), days: 0, bytes: 1 }];
    let plant = Plant::start(ArchiveConfig { retention, ..small_files(folder.path()) }, &node, ROOM);
    eventually("no file has gone", || segment_files(folder.path()).is_empty());
    plant.stop();
    let (nodes, instances) = known(folder.path());
    assert_eq!((nodes.len(), instances.len()), (1, 1));
    let history = History::open(folder.path()).unwrap();
    let reach = history.reaches().unwrap()[&("plant".to_owned(), "counter".to_owned())];
    let (oldest, newest) = reach;
    assert!(oldest <= newest && newest <= 1_200 * STEP, "{oldest} {newest}");
    assert_eq!(history.reach_of("plant", "counter").unwrap(), Some(reach));
    assert_eq!(History::open(folder.path()).unwrap().types().unwrap(), [Arc::new(counter())]);

    rollup_files(folder.path()).iter().for_each(|file| fs::remove_file(file).unwrap());
    let (nodes, instances) = known(folder.path());
    assert!(nodes.is_empty() && instances.is_empty(), "{nodes:?} {instances:?}");
    let history = History::open(folder.path()).unwrap();
    assert!(history.types().unwrap().is_empty() && history.instances().unwrap().is_empty());
}
