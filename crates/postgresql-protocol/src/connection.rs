//! A session: messages of a client that has signed in, and their answers.

mod extended;

use crate::{
    answer::{Answer, RowPosition},
    cancel::{CancelFlag, CancelKey},
    catalogue::Session,
    failure::{SqlFailure, code},
    message::{BadMessage, Named, Request, parse},
    prepared::PreparedStore,
    query::{QueryOutcome, QueryTask},
    reply::{Replies, Transaction},
    settings::Settings,
    shared::Shared,
    sign_in::SignedIn,
    sql::{Act, Statement, statements},
    state::count,
    stream::{MessageStream, most_bytes},
    value_type::ValueType,
};
use oasis_access::Secret;
use oasis_api::Queries;
use oasis_http::permissions::Caller;
use oasis_query::OwnedSqlValue as Value;
use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::{sync::watch, time::timeout};

/// Longest wait until a query begins, because others run.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of replies that are written at once.
const WRITE_CHUNK_BYTES: usize = 64 * 1024;
/// The type of texts, for parameters whose type is unknown.
const TEXT_OID: u32 = 25;

/// The session of a client.
pub struct Connection {
    shared: Arc<Shared>,
    stream: MessageStream,
    caller: Caller,
    cookie: Option<Secret>,
    key: CancelKey,
    user: String,
    database: String,
    settings: Settings,
    store: PreparedStore,
    transaction: Transaction,
    /// After an error, until the client sends Sync.
    skips: bool,
    replies: Replies,
}

/// The result of a statement.
enum Outcome {
    /// Rows, and the word for them.
    Rows { answer: Arc<Answer>, types: Vec<ValueType>, word: &'static str },
    /// Nothing but that it is done.
    Done(String),
    /// The statement was empty.
    Empty,
}

impl Connection {
    /// Begins the session of a client.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new(shared: Arc<Shared>, signed_in: SignedIn) -> io::Result<Self> {
        let SignedIn { stream, caller, cookie, user, database, settings, unknown } = signed_in;
        let key = shared.cancels.add()?;
        let mut replies = Replies::default();
        if let Some(unknown) = unknown {
            let unknown: Vec<_> = unknown.iter().map(String::as_str).collect();
            replies.negotiate_version(&unknown);
        }
        replies.signed_in();
        let mut own = Settings::of(&user);
        for (name, value) in settings {
            // Unknown ones of later versions are no reason to refuse a client.
            let _ = own.set(&name, Some(value));
        }
        own.reported().for_each(|(name, value)| replies.parameter(name, value));
        replies.key(key.process, key.secret);
        replies.ready(Transaction::None);
        let (store, transaction) = (PreparedStore::default(), Transaction::None);
        Ok(Self {
            shared,
            stream,
            caller,
            cookie,
            key,
            user,
            database,
            settings: own,
            store,
            transaction,
            skips: false,
            replies,
        })
    }

    /// Serves the client until it goes, or the server ends.
    ///
    /// # Errors
    /// If the stream fails, or the client does not speak the protocol.
    pub async fn serve(&mut self, mut ending: watch::Receiver<bool>) -> io::Result<()> {
        loop {
            if !self.stream.has_input() || self.replies.0.len() >= WRITE_CHUNK_BYTES {
                self.flush().await?;
            }
            let next = tokio::select! {
                next = self.stream.next(most_bytes()) => next?,
                () = ended(&mut ending) => {
                    self.replies.error(&SqlFailure::new(code::ENDING, "the DAC ends this server"), true, None);
                    return self.flush().await;
                }
            };
            let Some((kind, content)) = next else { return Ok(()) };
            match parse(kind, &content) {
                Ok(Request::Terminate) => return Ok(()),
                Ok(request) => self.answer(request).await?,
                Err(BadMessage::Encoding) => {
                    let failure = SqlFailure::new(code::BAD_TEXT, BadMessage::Encoding.to_string());
                    self.fail(&failure, "");
                    self.skips = kind != b'Q';
                    if kind == b'Q' {
                        self.replies.ready(self.transaction);
                    }
                }
                Err(bad) => {
                    count(&self.shared.counters.malformed);
                    self.replies.error(&SqlFailure::new(code::PROTOCOL, bad.to_string()), true, None);
                    return self.flush().await;
                }
            }
        }
    }

    /// Ends the session of a password.
    pub fn sign_out(&self) {
        if let Some(cookie) = &self.cookie {
            self.shared.queries.permissions().access.sign_out(cookie.reveal());
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        if !self.replies.0.is_empty() {
            self.stream.write(&self.replies.0).await?;
            self.replies.0.clear();
            self.replies.0.shrink_to(WRITE_CHUNK_BYTES);
        }
        Ok(())
    }

    async fn answer(&mut self, request: Request<'_>) -> io::Result<()> {
        let done = match request {
            Request::Query(text) => return self.simple(text).await,
            Request::Sync => {
                self.skips = false;
                if self.transaction == Transaction::None {
                    self.store.close_portals();
                }
                self.replies.ready(self.transaction);
                return Ok(());
            }
            _ if self.skips => return Ok(()),
            Request::Flush => return self.flush().await,
            Request::Parse { name, query, types } => {
                self.prepare(name, query, types).map_err(|failure| (failure, query.to_owned()))
            }
            Request::Bind { portal, statement, formats, values, results } => {
                let bound = self.bind((portal, statement), &formats, &values, results);
                bound.map_err(|failure| (failure, String::new()))
            }
            Request::Describe(Named::Statement(name)) => self.describe_statement(name).await,
            Request::Describe(Named::Portal(name)) => self.describe_portal(name).await,
            Request::Execute { portal, most } => match self.execute(portal, most).await? {
                Ok(()) => Ok(()),
                Err(failure) => Err(failure),
            },
            Request::Close(named) => {
                match named {
                    Named::Statement(name) => self.store.close_statement(Some(name)),
                    Named::Portal(name) => self.store.close_portal(name),
                }
                self.replies.mark(b'3');
                Ok(())
            }
            Request::Copy => Ok(()),
            Request::FunctionCall => {
                let failure =
                    SqlFailure::new(code::UNSUPPORTED, "function calls are not supported: send a SELECT");
                self.fail(&failure, "");
                self.replies.ready(self.transaction);
                return Ok(());
            }
            Request::Password(_) | Request::Terminate => {
                Err((SqlFailure::new(code::PROTOCOL, "this message was not expected"), String::new()))
            }
        };
        if let Err((failure, text)) = done {
            self.fail(&failure, &text);
            self.skips = true;
        }
        Ok(())
    }

    /// Reports an error in a statement with this text.
    fn fail(&mut self, failure: &SqlFailure, text: &str) {
        let counters = &self.shared.counters;
        count(if failure.code == code::CANCELED { &counters.canceled } else { &counters.failed });
        let before = |at: usize| text.get(..at).map(|before| before.chars().count() + 1);
        self.replies.error(failure, false, failure.at.and_then(before));
        if self.transaction == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
    }

    /// Answers statements of a simple query.
    async fn simple(&mut self, text: &str) -> io::Result<()> {
        self.skips = false;
        match self.statements(text) {
            Err(failure) => self.fail(&failure, text),
            Ok(all) => {
                for statement in all {
                    match self.run(&statement, Vec::new(), text).await {
                        Ok(outcome) => {
                            if let Some(failure) = self.write(outcome).await? {
                                self.fail(&failure, text);
                                break;
                            }
                        }
                        Err(failure) => {
                            self.fail(&failure, text);
                            break;
                        }
                    }
                }
            }
        }
        self.replies.ready(self.transaction);
        Ok(())
    }

    fn statements(&self, text: &str) -> Result<Vec<Statement>, SqlFailure> {
        if text.len() > Queries::MAX_BYTES {
            let message = format!("the statement has {} bytes, more than {}", text.len(), Queries::MAX_BYTES);
            return Err(SqlFailure::new(code::LIMIT, message));
        }
        statements(text)
    }

    /// Writes the outcome of a statement of a simple query. Returns the error after its last row.
    async fn write(&mut self, outcome: Outcome) -> io::Result<Option<SqlFailure>> {
        match outcome {
            Outcome::Empty => self.replies.mark(b'I'),
            Outcome::Done(tag) => self.replies.complete(&tag),
            Outcome::Rows { answer, types, word } => {
                let columns =
                    answer.names().iter().zip(&types).map(|(name, kind)| (name.as_str(), *kind, false));
                self.replies.columns(columns);
                let mut at = answer.reader();
                self.rows(&answer, &types, &mut at, (u32::MAX, &[])).await?;
                if let Some(failure) = answer.failure() {
                    return Ok(Some(failure));
                }
                self.replies.complete(&tag(word, answer.rows()));
            }
        }
        Ok(None)
    }

    /// Writes rows, up to this number. Returns how many.
    async fn rows(
        &mut self,
        answer: &Answer,
        types: &[ValueType],
        at: &mut RowPosition,
        (most, formats): (u32, &[u16]),
    ) -> io::Result<usize> {
        let is_binary = |column: usize| match formats {
            [] => false,
            [all] => *all == 1,
            each => each.get(column) == Some(&1),
        };
        let mut written = 0;
        while written < most as usize && answer.write_row(at, types, is_binary, &mut self.replies) {
            written += 1;
            if self.replies.0.len() >= WRITE_CHUNK_BYTES {
                self.flush().await?;
            }
        }
        self.shared.counters.rows.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    /// Runs a statement.
    async fn run(
        &mut self,
        statement: &Statement,
        values: Vec<(u32, Value)>,
        text: &str,
    ) -> Result<Outcome, SqlFailure> {
        let ends = matches!(statement.act, Act::End { .. } | Act::RollbackTo);
        if self.transaction == Transaction::Failed && !ends {
            let message = "current transaction is aborted, commands ignored until end of transaction block";
            return Err(SqlFailure::new(code::FAILED_TRANSACTION, message));
        }
        Ok(match &statement.act {
            Act::Nothing => Outcome::Empty,
            Act::Select => {
                let QueryOutcome { answer, types, .. } = self.query(statement, values, text).await?;
                Outcome::Rows { answer: Arc::new(answer), types, word: "SELECT" }
            }
            Act::Show(name) => self.show(name)?,
            Act::Set(name, value) => {
                let word = if value.is_some() { "SET" } else { "RESET" };
                self.settings.set(name, value.clone())?;
                let changed = self.settings.reported().find(|(known, _)| known.eq_ignore_ascii_case(name));
                if let Some((name, value)) = changed {
                    self.replies.parameter(name, value);
                }
                Outcome::Done(word.into())
            }
            Act::DiscardAll => {
                self.store = PreparedStore::default();
                self.settings.reset();
                Outcome::Done("DISCARD ALL".into())
            }
            Act::Deallocate(name) => {
                self.store.close_statement(name.as_deref());
                Outcome::Done(if name.is_some() { "DEALLOCATE" } else { "DEALLOCATE ALL" }.into())
            }
            Act::Ignored(tag) => Outcome::Done((*tag).into()),
            act => Outcome::Done(self.change_transaction(act).into()),
        })
    }

    /// Begins or ends a transaction: all statements read what is there when they begin.
    fn change_transaction(&mut self, act: &Act) -> &'static str {
        match act {
            Act::Begin => {
                self.transaction = Transaction::Open;
                "BEGIN"
            }
            Act::End { is_commit } => {
                let is_commit = *is_commit && self.transaction != Transaction::Failed;
                self.transaction = Transaction::None;
                self.store.close_portals();
                if is_commit { "COMMIT" } else { "ROLLBACK" }
            }
            Act::RollbackTo => {
                if self.transaction == Transaction::Failed {
                    self.transaction = Transaction::Open;
                }
                "ROLLBACK"
            }
            Act::Savepoint(tag) => tag,
            _ => "",
        }
    }

    fn show(&self, name: &str) -> Result<Outcome, SqlFailure> {
        let budget = self.shared.budget.clone();
        let answer = if name == "all" {
            let rows = self.settings.all().map(|(name, value)| vec![name, value, ""]);
            Answer::of_texts(&["name", "setting", "description"], rows, budget)
        } else {
            let (name, value) = self.settings.show(name)?;
            Answer::of_texts(&[name], [vec![value]], budget)
        };
        let types = vec![ValueType::Text; answer.names().len()];
        Ok(Outcome::Rows { answer: Arc::new(answer), types, word: "SHOW" })
    }

    /// Runs a query, unless the client goes or cancels it.
    async fn query(
        &mut self,
        statement: &Statement,
        values: Vec<(u32, Value)>,
        text: &str,
    ) -> Result<QueryOutcome, SqlFailure> {
        let permissions = self.shared.queries.permissions().clone();
        let ended = |message: String| SqlFailure::new(code::NOT_AUTHENTICATED, message);
        self.caller.refresh(&permissions).map_err(|error| ended(error.to_string()))?;
        self.shared.queries.authorize(&self.caller)?;
        // Earlier replies do not wait for the query.
        let _ = self.flush().await;
        count(&self.shared.counters.queries);
        let flag = CancelFlag::default();
        self.key.set_running(Some(flag.clone()));
        let outcome = self.run_query(statement, values, text, flag).await;
        self.key.set_running(None);
        outcome
    }

    async fn run_query(
        &mut self,
        statement: &Statement,
        values: Vec<(u32, Value)>,
        text: &str,
        flag: CancelFlag,
    ) -> Result<QueryOutcome, SqlFailure> {
        let queries = self.shared.queries.clone();
        let canceled = || SqlFailure::new(code::CANCELED, "canceling statement due to user request");
        let limit = self.settings.statement_timeout().unwrap_or(Queries::TIMEOUT).min(Queries::TIMEOUT);
        let turn = tokio::select! {
            turn = timeout(TURN_TIMEOUT.min(limit), queries.wait_for_turn(&self.caller)) => turn,
            () = flag.wait() => return Err(canceled()),
            () = self.stream.closed() => return Err(canceled()),
        };
        let turn = turn.map_err(|_| {
            SqlFailure::new(
                code::TOO_MANY,
                "too many queries run at the same time: repeat it when one has ended",
            )
        })?;
        let task = QueryTask {
            queries: queries.clone(),
            caller: self.caller.clone(),
            session: self.session(),
            tokens: statement.tokens.clone(),
            values,
            time: limit,
            budget: self.shared.budget.clone(),
            has_left: flag.shared(),
        };
        let run = async move {
            let _turn = turn;
            task.run().await
        };
        let recorded = queries.recorded(&self.caller, text, run);
        tokio::pin!(recorded);
        tokio::select! {
            outcome = &mut recorded => return outcome,
            () = self.stream.closed() => flag.set(),
        }
        recorded.await
    }

    fn session(&self) -> Session {
        let settings = self.settings.all().map(|(name, value)| (name, value.to_owned())).collect();
        Session {
            user: self.user.clone(),
            database: self.database.clone(),
            process: self.key.process,
            settings: Arc::new(settings),
        }
    }
}

/// Completes when the server ends.
async fn ended(ending: &mut watch::Receiver<bool>) {
    // Fails only if the server is gone.
    let _ = ending.wait_for(|ending| *ending).await.map(|_| ());
}

/// The tag of rows.
fn tag(word: &str, rows: usize) -> String {
    if word == "SELECT" { format!("SELECT {rows}") } else { word.to_owned() }
}
