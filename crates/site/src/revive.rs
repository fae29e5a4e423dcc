//! Tasks that start again after a panic.

use oasis_health::Health;
use std::time::Duration;
use tokio::task::JoinSet;

/// The watched task whose hang means that the DAC serves no client.
pub const RUNTIME: &str = "tokio runtime";
/// Pause between a panic and the next start.
const RESTART_DELAY: Duration = Duration::from_millis(500);
/// Interval at which the runtime shows that it runs tasks.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// Runs a task to its end, and again if it panics. The task counts as dead until it runs again.
pub async fn revive<F>(health: Health, name: &str, mut start: impl FnMut() -> F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    loop {
        let (pulse, task) = (health.watch(name), start());
        // A set aborts its tasks when it is dropped: who aborts the caller means the task.
        let mut running = JoinSet::new();
        running.spawn(async move {
            let _pulse = pulse;
            task.await
        });
        match running.join_next().await {
            Some(Ok(output)) => return output,
            Some(Err(error)) => tracing::error!(task = name, %error, "a task failed, restarting"),
            None => {}
        }
        tokio::time::sleep(RESTART_DELAY).await;
    }
}

/// Shows the watchdog that the runtime runs tasks.
pub async fn beat(health: Health) {
    let pulse = health.watch(RUNTIME);
    loop {
        let _call = pulse.begin("running its tasks");
        tokio::time::sleep(HEARTBEAT_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_ends_with_its_caller() {
        let (alive, mut ended) = tokio::sync::mpsc::channel::<()>(1);
        let caller = tokio::spawn(async move {
            revive(Health::default(), "task", || {
                let alive = alive.clone();
                async move {
                    let _alive = alive;
                    std::future::pending::<()>().await;
                }
            })
            .await;
        });
        tokio::task::yield_now().await;
        caller.abort();
        assert_eq!(ended.recv().await, None);
    }

    #[tokio::test]
    async fn a_task_that_panics_is_started_again() {
        let health = Health::default();
        let mut starts = 0;
        let output = revive(health.clone(), "task", || {
            starts += 1;
            let is_first = starts == 1;
            async move {
                assert!(!is_first, "planted");
                7
            }
        });
        assert_eq!(output.await, 7);
        assert_eq!(starts, 2);
        assert_eq!(health.findings(), []);
    }
}
