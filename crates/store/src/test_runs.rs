//! The test runs of an archive: read and written in its catalogue.

use crate::{
    store::Store,
    test_run::{Description, Result, TestRun, TestRunError, TestRunFilter},
};
use oasis_wire::quantity::Nanos;
use std::sync::Arc;

/// The test runs of an archive. Each call blocks on the disk.
#[derive(Debug, Clone)]
pub struct TestRuns(pub Arc<Store>);

impl TestRuns {
    /// Starts a test run.
    ///
    /// # Errors
    /// If a text is invalid, the name exists, there are too many, or the catalogue fails.
    pub fn start(&self, mut description: Description, who: &str, now: Nanos) -> Result<TestRun> {
        description.check()?;
        let added = self.0.catalogue().add_test_run(&description, who, now);
        self.0.lasting(added)
    }

    /// Stops a running test run.
    ///
    /// # Errors
    /// If there is none with this number, it is already stopped, or the catalogue fails.
    pub fn stop(&self, id: u64, now: Nanos) -> Result<TestRun> {
        let mut catalogue = self.0.catalogue();
        let run = catalogue.test_run(id)?.ok_or(TestRunError::Unknown(id))?;
        if run.stopped.is_some() {
            return Err(TestRunError::Stopped(run.name));
        }
        // The end is not before the start, even if the clock was set back.
        let stopped = now.max(run.started);
        catalogue.stop_test_run(id, stopped)?;
        self.0.lasting(Ok(TestRun { stopped: Some(stopped), ..run }))
    }

    /// Changes the description of a test run.
    ///
    /// # Errors
    /// As [`TestRuns::start`], and if there is none with this number.
    pub fn change(&self, id: u64, change: impl FnOnce(&mut Description)) -> Result<TestRun> {
        let mut catalogue = self.0.catalogue();
        let run = catalogue.test_run(id)?.ok_or(TestRunError::Unknown(id))?;
        let mut description = Description::from(run);
        change(&mut description);
        description.check()?;
        self.0.lasting(catalogue.change_test_run(id, &description))
    }

    /// Deletes a test run; retention still applies to its samples.
    ///
    /// # Errors
    /// If there is none with this number, or the catalogue fails.
    pub fn delete(&self, id: u64) -> Result<()> {
        let is_deleted = self.0.catalogue().delete_test_run(id)?;
        self.0.lasting(if is_deleted { Ok(()) } else { Err(TestRunError::Unknown(id)) })
    }

    /// One.
    ///
    /// # Errors
    /// If there is none with this number, or the catalogue fails.
    pub fn get(&self, id: u64) -> Result<TestRun> {
        self.0.catalogue().test_run(id)?.ok_or(TestRunError::Unknown(id))
    }

    /// The one with this name.
    ///
    /// # Errors
    /// If there is none, or the catalogue fails.
    pub fn named(&self, name: &str) -> Result<TestRun> {
        let filter = TestRunFilter { name: Some(name.into()), ..TestRunFilter::default() };
        self.list(&filter, 1)?.pop().ok_or_else(|| TestRunError::UnknownName(name.into()))
    }

    /// Returns at most `most`, newest first.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn list(&self, filter: &TestRunFilter, most: usize) -> Result<Vec<TestRun>> {
        self.0.catalogue().test_runs(filter, most)
    }
}
