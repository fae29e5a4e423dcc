//! Reads a recording on a thread of its own: to describe it, or to store it.

use super::{
    staging::{Imports, Upload},
    view::{ImportedInstance, Position, Stage, StoredRecording},
};
use anyhow::{Context, bail};
use axum::http::StatusCode;
use oasis_archive::{Archive, LiveImport, restore_imported};
use oasis_dac::Dac;
use oasis_format::input::{Dbc, InputOptions};
use oasis_http::Problem;
use oasis_recordings::file::{
    Cancelled, Choices, Note, OpenedRecording, RecordingOptions, Step, UnpackBounds, Watch, explained,
};
use oasis_thread_priority::{BACKGROUND, lower_priority};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Read,
    path::Path,
    sync::Arc,
    thread,
};
use tokio::{sync::oneshot, time::Instant};

/// Most bytes of a CAN database.
const MAX_DBC_BYTES: u64 = 64 * 1024 * 1024;
/// Instances that a result names.
const MAX_NAMED_INSTANCES: usize = 100;

/// Shows the progress of an upload.
struct Watched(Arc<Upload>);

impl Watch for Watched {
    fn on_step(&self, step: Step<'_>) {
        let (file, bytes, total) = match step {
            Step::Unpack { file, bytes } => (file, bytes, None),
            Step::Read { file, position, total, .. } => (file, position, Some(total)),
            Step::Segments { .. } => return,
        };
        let mut state = self.0.state();
        match &mut state.position {
            Some(known) if known.total == total => known.bytes = bytes,
            position => {
                let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                *position = Some(Position { file, bytes, total, begun: Instant::now() });
            }
        }
    }

    fn on_note(&self, Note { file, subject, text }: Note<'_>) {
        self.0.note(file, subject, text);
    }

    fn is_cancelled(&self) -> bool {
        self.0.state().is_cancelled
    }
}

/// Describes a recording.
pub async fn describe(imports: Arc<Imports>, upload: Arc<Upload>, choices: Choices) {
    let of_thread = upload.clone();
    let described = in_turn(imports, move |imports| {
        // Defective records are counted, so that all of them are known.
        let choices = Choices { partial: true, ..choices };
        with_recording(&imports, &of_thread, &choices, |opened, watch| opened.describe(watch))
    });
    match described.await {
        Ok(mut description) => {
            description.file.clone_from(&upload.name);
            let mut state = upload.state();
            state.description = Some(description);
            state.stage = Stage::Described;
        }
        Err(error) => upload.fail(&explained(&error)),
    }
}

/// Stores a recording.
///
/// # Errors
/// If it is defective, or cannot be stored: nothing was imported.
pub async fn store(
    imports: Arc<Imports>,
    archive: Arc<Archive>,
    dac: Arc<Dac>,
    upload: Arc<Upload>,
    choices: Choices,
) -> Result<(), Problem> {
    stored(imports, &archive, &dac, &upload, choices)
        .await
        .map_err(|error| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not_imported", explained(&error)))
}

async fn stored(
    imports: Arc<Imports>,
    archive: &Arc<Archive>,
    dac: &Arc<Dac>,
    upload: &Arc<Upload>,
    choices: Choices,
) -> anyhow::Result<()> {
    let import = archive.begin_import(dac).await?;
    let of_thread = upload.clone();
    let (import, is_complete) =
        in_turn(imports, move |imports| read(&imports, &of_thread, &choices, import)).await?;
    begin_commit(upload)?;
    let names: BTreeSet<_> =
        import.names().map(|(node, instance)| (node.to_owned(), instance.to_owned())).collect();
    let times = import.times().unwrap_or_default();
    let totals = archive.finish_import(import).await?;
    let (history, registry) = (archive.history(), dac.clone());
    let of_registry = names.clone();
    let restored =
        tokio::task::spawn_blocking(move || restore_imported(&history, &of_registry, &registry.registry));
    // The samples are stored: the next start shows them.
    match restored.await? {
        Ok(counts) if counts.left_out > 0 => upload.note(
            Path::new(&upload.name),
            None,
            &format!(
                "{} instances are stored, but not listed: channel.max_nodes or max_topics is reached",
                counts.left_out
            ),
        ),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "imported nodes are not listed before the next start"),
    }
    let instances = names.into_iter().take(MAX_NAMED_INSTANCES);
    let instances = instances.map(|(node, instance)| ImportedInstance { node, instance }).collect();
    let mut state = upload.state();
    state.stored = Some(StoredRecording::new(&totals, is_complete, instances, times));
    state.stage = Stage::Stored;
    state.used = Instant::now();
    Ok(())
}

fn read(
    imports: &Imports,
    upload: &Arc<Upload>,
    choices: &Choices,
    mut import: LiveImport,
) -> anyhow::Result<(LiveImport, bool)> {
    let is_complete = with_recording(imports, upload, choices, |opened, watch| {
        let is_complete = opened.add(&mut import, watch)?;
        import.seal_all()?;
        Ok(is_complete)
    })?;
    Ok((import, is_complete))
}

/// From here on the import is not cancelled.
fn begin_commit(upload: &Upload) -> anyhow::Result<()> {
    let mut state = upload.state();
    if state.is_cancelled {
        bail!(Cancelled);
    }
    state.stage = Stage::Committing;
    Ok(())
}

fn with_recording<T>(
    imports: &Imports,
    upload: &Arc<Upload>,
    choices: &Choices,
    act: impl FnOnce(&OpenedRecording<'_>, &dyn Watch) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let (path, folder) = (upload.recording(), upload.unpacked());
    if !path.exists() {
        bail!("the recording has no files: upload them first");
    }
    let databases =
        upload.database_files().iter().map(|path| database(path)).collect::<anyhow::Result<_>>()?;
    let input: InputOptions = choices.options(databases)?;
    let options =
        RecordingOptions { format: choices.format()?, input: &input, name: choices.name.as_deref() };
    let watch = Watched(upload.clone());
    let bounds = UnpackBounds { folder: &folder, max_bytes: Some(imports.left()) };
    let opened = OpenedRecording::open(&path, options, bounds, &watch)?;
    act(&opened, &watch)
}

fn database(path: &Path) -> anyhow::Result<Dbc> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if fs::metadata(path)?.len() > MAX_DBC_BYTES {
        bail!("{name} has more than {MAX_DBC_BYTES} bytes: name a CAN database");
    }
    let mut content = Vec::new();
    File::open(path)?.take(MAX_DBC_BYTES).read_to_end(&mut content)?;
    Ok(Dbc { path: name, content })
}

/// Runs a task on a thread of its own, once no other one reads a recording.
async fn in_turn<T: Send + 'static>(
    imports: Arc<Imports>,
    task: impl FnOnce(Arc<Imports>) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let turn = imports.reading.clone().acquire_owned().await?;
    let (answer, answered) = oneshot::channel();
    thread::Builder::new().name("oasis-import".into()).spawn(move || {
        lower_priority(BACKGROUND);
        let done = task(imports);
        drop(turn);
        // The DAC may end meanwhile.
        let _ = answer.send(done);
    })?;
    answered.await.context("the recording cannot be read: the log of the DAC has the reason")?
}
