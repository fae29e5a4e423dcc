//! Asks an upstream about the past, each question on a connection of its own.

use super::way::{UpstreamServer, understood};
use crate::client::Incoming;
use anyhow::{Context, anyhow};
use oasis_client::ClientError;
use oasis_dac::{ForwardedQuestion, PastMessage, PastQuestion, Question};
use oasis_relay::past;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Questions to one upstream at the same time; others wait.
const MAX_CONCURRENT_QUESTIONS: usize = 64;

/// Sends questions about the past to an upstream.
#[derive(Debug, Clone)]
pub struct PastForwarder {
    way: UpstreamServer,
    turns: Arc<Semaphore>,
}

impl PastForwarder {
    /// Creates one.
    pub fn new(way: UpstreamServer) -> Self {
        Self { way, turns: Arc::new(Semaphore::new(MAX_CONCURRENT_QUESTIONS)) }
    }

    /// Forwards a question in a task, which ends when the answer is not wanted any more.
    pub fn forward(&self, asked: ForwardedQuestion) {
        let asker = self.clone();
        tokio::spawn(async move {
            let wanted = asked.answer.clone();
            tokio::select! {
                () = wanted.closed() => {}
                answered = asker.converse(&asked) => if let Err(error) = answered {
                    let reason = format!("{}/{}: {error:#}", asked.node, asked.instance);
                    // Fails only if the receiver is gone.
                    let _ = asked.answer.send(PastMessage::Failed(reason)).await;
                }
            }
        });
    }

    async fn converse(&self, asked: &ForwardedQuestion) -> anyhow::Result<()> {
        let _turn = self.turns.acquire().await?;
        match asked.question {
            Question::Samples(question) => self.ask_for_samples(asked, question).await,
            Question::Stored => {
                let (way, node, instance) = (self.way.clone(), asked.node.clone(), asked.instance.clone());
                let times = tokio::task::spawn_blocking(move || stored(&way, &node, &instance)).await??;
                // Fails only if the receiver is gone.
                let _ = asked.answer.send(PastMessage::Stored(times)).await;
                Ok(())
            }
        }
    }

    async fn ask_for_samples(&self, asked: &ForwardedQuestion, question: PastQuestion) -> anyhow::Result<()> {
        let mut client = self.way.connect().await?;
        client.send(&past::request(asked, question)).await?;
        loop {
            let answer = match client.next().await?.context("the upstream closed the connection")? {
                Incoming::Batch(bytes) => Some(PastMessage::Batch(bytes)),
                Incoming::Control(message) => past::answer(understood(message)?),
            };
            let Some(answer) = answer else { continue };
            let is_last = matches!(answer, PastMessage::End | PastMessage::Failed(_));
            asked.answer.send(answer).await.map_err(|_| anyhow!("nobody wants it any more"))?;
            if is_last {
                return Ok(());
            }
        }
    }
}

/// Returns the times of the oldest and the newest stored sample of an instance; none if there are none, or no archive.
fn stored(way: &UpstreamServer, node: &str, instance: &str) -> anyhow::Result<Option<(u64, u64)>> {
    let query = [("node", node), ("instance", instance)];
    let answer = match way.api()?.get("/archive/instances", &query) {
        Err(ClientError::Refused(refused)) if refused.code == "no_archive" => return Ok(None),
        answer => answer?,
    };
    let found = &answer["instances"][0];
    Ok(found["oldest_time"].as_u64().zip(found["newest_time"].as_u64()))
}
