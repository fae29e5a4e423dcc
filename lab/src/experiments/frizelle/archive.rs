//! The archive of a cell's answers: one compressed file, of all processes of the load on all hosts.
//!
//! Each process keeps its answers in a temporary file ([`AnswerFile`]) while the test runs, and sends it to the runner after its summary. The runner ([`Collector`]) writes the
//! files one after the other, which is a file of gzip again (RFC 1952 2.2), and counts its lines against the answers.

use crate::experiment::Interrupt;
use anyhow::{Context, ensure};
use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::{NamedTempFile, tempfile};

/// Upper bound of a process's compressed answers, bytes.
const MAX_ANSWER_FILE_BYTES: u64 = 8 << 30;
/// Timeout without a byte of an upload.
const UPLOAD_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of a peer's key.
const KEY_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest wait for a connection between two checks for Ctrl-C.
const UPLOAD_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Address to which a process sends its answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadAddress {
    /// The runner.
    address: SocketAddr,
    /// Number that the runner has drawn: it takes files of its own cell only.
    key: u64,
}

/// The answers of one process.
#[derive(Debug)]
pub struct AnswerFile(GzEncoder<File>);

impl AnswerFile {
    /// Creates an empty file.
    pub fn new() -> anyhow::Result<Self> {
        let file = tempfile().context("no temporary file for answers")?;
        Ok(Self(GzEncoder::new(file, Compression::fast())))
    }

    /// Appends an answer.
    pub fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.0.write_all(line)?;
        self.0.write_all(b"\n")
    }

    /// Sends the file to the runner.
    pub fn upload(self, to: &UploadAddress, process: usize) -> anyhow::Result<()> {
        let mut file = self.0.finish().context("cannot compress answers")?;
        let length = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        let mut stream =
            TcpStream::connect(to.address).with_context(|| format!("no runner at {}", to.address))?;
        stream.set_write_timeout(Some(UPLOAD_IDLE_TIMEOUT))?;
        for number in [to.key, process as u64, length] {
            stream.write_all(&number.to_be_bytes())?;
        }
        ensure!(io::copy(&mut file, &mut stream)? == length, "answers were cut off");
        Ok(())
    }
}

/// Receives the answers of a cell.
#[derive(Debug)]
pub struct Collector {
    listener: TcpListener,
    key: u64,
    path: PathBuf,
}

impl Collector {
    /// Listens at this address for files that become `path`.
    pub fn listen(address: IpAddr, path: PathBuf) -> anyhow::Result<Self> {
        let listener =
            TcpListener::bind((address, 0)).with_context(|| format!("cannot listen at {address}"))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, key: fastrand::u64(..), path })
    }

    /// The address to which processes send their answers.
    pub fn address(&self) -> anyhow::Result<UploadAddress> {
        Ok(UploadAddress { address: self.listener.local_addr()?, key: self.key })
    }

    /// Waits for the files of this many processes, and writes the archive. Returns the number of its answers.
    ///
    /// # Errors
    /// If a file does not come, or if the archive does not have this many answers.
    pub fn collect(&self, processes: usize, answers: u64, interrupt: &Interrupt) -> anyhow::Result<u64> {
        let mut files: BTreeMap<u64, File> = BTreeMap::new();
        let mut deadline = Instant::now() + UPLOAD_IDLE_TIMEOUT;
        while files.len() < processes {
            interrupt.check()?;
            ensure!(
                Instant::now() < deadline,
                "{} of {processes} processes have sent their answers",
                files.len()
            );
            match self.listener.accept() {
                Ok((stream, _)) => {
                    // Connections without the key are ignored.
                    if let Some((process, file)) = receive(&stream, self.key)? {
                        ensure!(
                            process < processes as u64,
                            "process {process} of {processes} has sent answers"
                        );
                        files.insert(process, file);
                        deadline = Instant::now() + UPLOAD_IDLE_TIMEOUT;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait()?,
                Err(error) => return Err(error.into()),
            }
        }
        self.write(files.into_values())?;
        let archived = count(&self.path)?;
        let path = self.path.display();
        ensure!(archived == answers, "{path} has {archived} answers, clients had {answers}");
        Ok(archived)
    }

    /// Waits for a connection.
    fn wait(&self) -> anyhow::Result<()> {
        let timeout = Timespec::try_from(UPLOAD_POLL_INTERVAL)?;
        match poll(&mut [PollFd::new(&self.listener, PollFlags::IN)], Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn write(&self, files: impl Iterator<Item = File>) -> anyhow::Result<()> {
        let cannot = || format!("cannot write {}", self.path.display());
        let folder = self.path.parent().with_context(cannot)?;
        let mut archive = NamedTempFile::new_in(folder).with_context(cannot)?;
        for mut file in files {
            file.rewind().and_then(|()| io::copy(&mut file, &mut archive)).with_context(cannot)?;
        }
        archive.as_file().sync_all().with_context(cannot)?;
        archive.persist(&self.path).with_context(cannot)?;
        Ok(())
    }
}

/// The number of a process and its file; none if the peer does not know the key.
fn receive(stream: &TcpStream, key: u64) -> anyhow::Result<Option<(u64, File)>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(KEY_TIMEOUT))?;
    if read_number(stream).ok() != Some(key) {
        return Ok(None);
    }
    stream.set_read_timeout(Some(UPLOAD_IDLE_TIMEOUT))?;
    let (process, length) = (read_number(stream)?, read_number(stream)?);
    ensure!(length <= MAX_ANSWER_FILE_BYTES, "process {process} has {length} bytes of answers: too many");
    let mut file = tempfile().context("no temporary file for answers")?;
    let received = io::copy(&mut stream.take(length), &mut file)?;
    ensure!(received == length, "process {process} has sent {received} of {length} bytes of answers");
    Ok(Some((process, file)))
}

fn read_number(mut stream: &TcpStream) -> io::Result<u64> {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes))
}

/// The lines of an archive.
fn count(path: &Path) -> anyhow::Result<u64> {
    let mut lines = BufReader::new(MultiGzDecoder::new(File::open(path)?));
    let mut count = 0;
    loop {
        let bytes = lines.fill_buf().with_context(|| format!("cannot read {}", path.display()))?;
        if bytes.is_empty() {
            return Ok(count);
        }
        count += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let length = bytes.len();
        lines.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{net::Ipv4Addr, thread};

    fn file(lines: &[&str]) -> AnswerFile {
        let mut file = AnswerFile::new().expect("a file");
        lines.iter().for_each(|line| file.append(line.as_bytes()).expect("room"));
        file
    }

    fn collector(folder: &Path) -> Collector {
        Collector::listen(Ipv4Addr::LOCALHOST.into(), folder.join("cell.jsonl.gz")).expect("an address")
    }

    #[test]
    fn answers_of_all_processes_become_one_archive_in_their_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let collector = collector(folder.path());
        let address = collector.address().expect("an address");
        let uploads = thread::spawn(move || {
            // A peer without the key takes no place.
            TcpStream::connect(address.address)
                .and_then(|mut peer| peer.write_all(&[0; 24]))
                .expect("a peer");
            file(&["three"]).upload(&address, 1).expect("an upload");
            file(&["one", "two"]).upload(&address, 0).expect("an upload");
        });
        assert_eq!(collector.collect(2, 3, &Interrupt::default()).expect("an archive"), 3);
        uploads.join().expect("all uploads");
        let mut text = String::new();
        MultiGzDecoder::new(File::open(&collector.path).expect("a file"))
            .read_to_string(&mut text)
            .expect("gzip");
        assert_eq!(text, "one\ntwo\nthree\n");
    }

    /// The error of a collector to which a process has sent this.
    fn refused(process: u64, length: u64, bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let collector = collector(folder.path());
        let to = collector.address().expect("an address");
        let mut peer = TcpStream::connect(to.address).expect("a peer");
        for number in [to.key, process, length] {
            peer.write_all(&number.to_be_bytes()).expect("a number");
        }
        peer.write_all(bytes).expect("bytes");
        drop(peer);
        collector.collect(1, 1, &Interrupt::default()).expect_err("no archive").to_string()
    }

    #[test]
    fn answers_that_are_cut_off_or_too_many_or_no_gzip_are_errors() {
        assert!(refused(0, 10, b"abc").contains("3 of 10 bytes"));
        assert!(refused(0, MAX_ANSWER_FILE_BYTES + 1, b"abc").contains("too many"));
        assert!(refused(1, 3, b"abc").contains("process 1 of 1"));
        assert!(refused(0, 3, b"abc").contains("cannot read"));
    }

    #[test]
    fn an_archive_with_fewer_answers_than_clients_had_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let collector = collector(folder.path());
        let address = collector.address().expect("an address");
        let upload = thread::spawn(move || file(&["one"]).upload(&address, 0));
        let error = collector.collect(1, 2, &Interrupt::default()).expect_err("an answer is missing");
        assert!(error.to_string().ends_with("has 1 answers, clients had 2"), "{error}");
        upload.join().expect("a thread").expect("an upload");
    }
}
