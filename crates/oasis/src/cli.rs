//! The arguments of the command line.

#[cfg(feature = "live")]
use crate::backup;
use crate::{
    access, archive, ca, completions, exit_codes, export, features, groups, import, init, lab, man_pages,
    pdl, rules, setup, sql,
};
#[cfg(feature = "live")]
use crate::{
    live::arguments::{
        Dac, Demo, Handlers, List, Loss, Node, Notify, Relay, SignInLink, Tail, Tem, Threads, Up,
    },
    live::{alarms, annotation, command, doctor, labels, mcp, replay, settings, test_run},
};
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::sync::LazyLock;

/// Returns the version, and the commit if the build knows it.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| version_of(env!("OASIS_BUILD_COMMIT")));
    &VERSION
}

fn version_of(commit: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    if commit.is_empty() { version.into() } else { format!("{version} ({commit})") }
}

/// Returns the version with the features that are built.
fn long_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| format!("{}\n{}", version(), features::summary()));
    &VERSION
}

/// Watch distributed real-time and embedded systems while they run, live, in any browser.
#[derive(Debug, Parser)]
#[command(
    version = version(),
    long_version = long_version(),
    after_help = "oasis COMMAND --help has examples; oasis help exit-codes lists exit codes.
OASIS_LOG sets what is logged, such as info or oasis_dac=debug."
)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
    /// Log more on standard error; twice for even more.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
}

/// Returns the command with groups of subcommands in its help.
pub fn command() -> Command {
    groups::grouped(Cli::command())
}

/// Parses the arguments of the process. Exits if they are wrong.
pub fn parse() -> Cli {
    let parsed = Cli::from_arg_matches(&command().get_matches());
    parsed.unwrap_or_else(|error| error.format(&mut command()).exit())
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    #[cfg(feature = "live")]
    /// Run a DAC, its page and a node that watches this host.
    #[command(after_help = "Examples:
  oasis up
  oasis up --listen 0.0.0.0:7070 --insecure  for other hosts too: trusted networks only
  oasis up --name plant-7 --probe processor=cpu@10 --probe memory
  oasis up --local token                     other users of this host must sign in
  oasis up --archive ~/samples               keep what comes in: docs/guides/keep-samples-on-disk.md")]
    Up(Up),
    #[cfg(feature = "live")]
    /// Run a DAC and a simulated plant, with alarms and losses.
    ///
    /// Three nodes, restarts, logs and a map. Keeps nothing, even if an archive is named.
    #[command(after_help = "Examples:
  oasis demo                                 the page is at http://127.0.0.1:7070
  oasis demo --listen 127.0.0.1:7080 --channel-listen 127.0.0.1:7081

The bearing of pump-2 gets hot once a minute. boiler-1 is away for 8 s every two minutes. The arm of robot-3 loses
samples every 20 s.")]
    Demo(Demo),
    #[cfg(feature = "live")]
    /// Run a node that watches this host.
    #[command(after_help = "Examples:
  oasis node --dac 192.0.2.7:7071
  oasis node --tem http://192.0.2.7:7070 --dac-name hall-1
  oasis node --name plant-7 --probe processor=ProcessorProbe_SmokeTest@2 --probe memory
  oasis node --probe 'process(name=postgres)=db@2' --probe 'windsonic(port=/dev/ttyUSB0)'
  oasis node --serial /dev/ttyUSB0,115200    a device without an operating system
  oasis node --device udp:192.0.2.7:7080     devices of a network of their own")]
    Node(Node),
    #[cfg(feature = "live")]
    /// Run a DAC: nodes connect to it, and it serves page and API.
    #[command(after_help = "Examples:
  oasis dac
  oasis dac --channel-listen 0.0.0.0:7071 --tls-certificate dac.pem --tls-key dac.key
  oasis dac --tem https://tem.example.org:7070 --dac-name hall-1
  oasis dac --config oasis.toml")]
    Dac(Dac),
    #[cfg(feature = "live")]
    /// Run a TEM, which knows where each DAC of a site is.
    ///
    /// Tools and nodes find DACs through it. Each DAC can do this too (docs/guides/name-dacs.md).
    #[command(after_help = "Examples:
  oasis tem --listen 127.0.0.1:7000
  oasis dac --tem http://127.0.0.1:7000 --dac-name hall-1
  oasis list --dacs --tem http://127.0.0.1:7000
  oasis tail --tem http://127.0.0.1:7000 plant-7/processor")]
    Tem(Tem),
    #[cfg(feature = "live")]
    /// Run a relay: it serves nodes of other DACs to many readers.
    ///
    /// A topic has one subscription (docs/guides/relay-other-dacs.md).
    #[command(after_help = "Examples:
  oasis relay --upstream http://127.0.0.1:7070 --listen 127.0.0.1:7080
  oasis relay --tem https://tem.example.org:7070 --ca ca.pem --token-file relay.token   all DACs of a site
  oasis tail --url http://127.0.0.1:7080 plant-7/processor")]
    Relay(Relay),
    #[cfg(feature = "live")]
    /// List probe instances that a DAC knows.
    #[command(after_help = "Examples:
  oasis list
  oasis list network
  oasis list --dacs                          DACs that have registered here
  oasis list --json | jq -r .type")]
    List(List),
    #[cfg(feature = "live")]
    /// Follow probe instances in the terminal.
    #[command(after_help = "Examples:
  oasis tail                                 all that is online
  oasis tail my-host/processor               one instance
  oasis tail 'my-host/*'                     all of a node
  oasis tail my-host/processor --json | jq .metrics.idle_time
  oasis tail my-host/processor --delivery max_hz=1
  oasis tail my-host/processor -n 20         the newest 20 samples, then live
  oasis tail my-host/processor --from -15m   the last quarter of an hour, then live
  oasis tail my-host/processor --from 2026-05-04T12:00:00Z --to 2026-05-04T12:05:00Z
  oasis tail --from 2026-05-04 --to 2026-05-05 --json > that-day.jsonl")]
    Tail(Tail),
    #[cfg(feature = "live")]
    /// List, acknowledge and shelve alarms, and show their journal.
    #[command(after_help = "Examples:
  oasis alarms
  oasis alarms ack Hot 'plant-7/pump 3' --comment 'on my way'
  oasis alarms shelve Hot 'plant-7/pump 3' --for 1h
  oasis alarms journal --from -1d")]
    Alarms(alarms::Arguments),
    #[cfg(feature = "live")]
    /// Account for every sample; fails if a loss is undeclared.
    ///
    /// Every generated sample was received, declared lost, spooled or is in flight (docs/reference/audit.md).
    #[command(
        alias = "audit",
        after_help = "Examples:
  oasis loss
  oasis loss my-host/
  oasis loss --json | jq .declared"
    )]
    Loss(Loss),
    #[cfg(feature = "live")]
    /// Send a command to a probe: rate, enable, sample now.
    #[command(after_help = "Examples:
  oasis command my-host/processor hertz 10
  oasis command my-host/processor demand 1 100
  oasis command my-host/memory disable
  oasis command my-host/memory sample-now
  oasis command my-host/oven trigger
  oasis command my-host/oven deadband temperature 0.5
  oasis command 'plant-*/heartbeat' hertz 2     all that match
  oasis command my-host/processor hertz 10 --keep   also in the next runs of the node
  oasis command my-host/processor reset         as the program has declared it")]
    Command(command::Arguments),
    #[cfg(feature = "live")]
    /// List and reset settings that nodes keep.
    #[command(after_help = "Examples:
  oasis settings list                        what is kept, or differs from what programs have declared
  oasis settings list plant-7
  oasis settings reset my-host/processor     all settings of an instance
  oasis settings reset 'my-host/*' rate")]
    Settings(settings::Arguments),
    #[cfg(feature = "live")]
    /// Set, remove and list labels of nodes and instances.
    #[command(after_help = "Examples:
  oasis label set plant-7 site=graz rack=7   labels of a node
  oasis label set 'plant-*/engine' unit=1    of all instances that match
  oasis label remove plant-7 rack
  oasis label list site=graz")]
    Label(labels::Arguments),
    #[cfg(feature = "live")]
    /// Start, stop and compare test runs: named spans of time.
    #[command(after_help = "Examples:
  oasis run start 'soak, pump 3 hot' --tag night
  oasis run stop 'soak, pump 3 hot'
  oasis run compare 'soak, pump 3 cold' 'soak, pump 3 hot'")]
    Run(test_run::Arguments),
    #[cfg(feature = "live")]
    /// Add notes to times, visible to everybody.
    #[command(
        visible_alias = "note",
        after_help = "Examples:
  oasis annotation add 'pump 3 switched on' plant-7
  oasis annotation add 'valve stuck' --time -5m
  oasis annotation list --from -1d"
    )]
    Annotation(annotation::Arguments),
    /// Show and check the content of an archive, and remove nodes.
    #[command(after_help = "Examples:
  oasis archive show --archive ~/samples     how much, of whom, from when to when
  oasis archive check --archive ~/samples    reads all of it, and says what is damaged
  oasis archive remove --archive ~/samples plant-7   removes a node with all its data")]
    Archive(archive::Arguments),
    /// Import recordings into an archive.
    ///
    /// Into that of a running DAC with --url, or into one that no DAC has open. MCAP, CSV and other files (docs/reference/formats.md), and segment files of other archives. An archive is created if it does not exist.
    #[command(after_help = "Examples:
  oasis import --archive ~/samples test-drive.mcap            nodes become test-drive:NODE
  oasis import --archive ~/samples --name bench old-archive/  all of it, as bench:NODE
  oasis import --url http://127.0.0.1:7070 test-drive.mcap    into the archive of a running DAC

Importing a file again adds nothing. A file that cannot be read adds nothing either, and the others are imported.
Exit status: 0 if each file was imported completely, 3 if messages or values are missing (reported by topic and field),
1 if a file was not imported.")]
    Import(import::Arguments),
    #[cfg(feature = "live")]
    /// Replay a recording through a DAC as if it were live.
    #[command(after_help = "Examples:
  oasis replay --archive ~/samples 'soak, pump 3 hot' --speed 10
  oasis replay ~/samples --loop                         all of an archive, again and again
  oasis replay ~/samples my-host/processor --from -1h   becomes replay:my-host/processor")]
    Replay(replay::Arguments),
    /// Query an archive or a DAC with SQL: one table a probe type.
    #[command(after_help = "Examples:
  oasis sql --archive ~/samples                                which tables there are
  oasis sql --archive ~/samples '.schema oasis_system_linux_processor_probe'
  oasis sql --archive ~/samples 'SELECT instance, samples, first, last FROM instances'
  oasis sql --archive ~/samples --json < query.sql
  oasis sql --url http://192.0.2.7:7070 'SELECT * FROM gaps'   a running DAC answers
  oasis sql --tem http://192.0.2.7:7070 --dac-name hall-1 .tables")]
    Sql(sql::Arguments),
    /// Export samples of an archive to a file.
    ///
    /// The DAC of the archive may run.
    #[command(after_help = "Examples:
  oasis export --archive ~/samples my-host/processor -o processor.csv
  oasis export --archive ~/samples my-host/processor --from -1h --format jsonl | jq .metrics
  oasis export --archive ~/samples -o tables/            all of it, a file for each probe type
  oasis export --archive ~/samples '*/processor' -o processors.csv
  oasis export --archive ~/samples my-host/processor --decimal comma --units -o processor.csv
  oasis export --archive ~/samples --run 'soak, pump 3 hot' -o soak.jsonl
  oasis export --archive ~/samples --format mcap -o everything.mcap
  oasis export --archive ~/samples --encoding cdr -o everything.mcap
  oasis export --archive ~/samples --format jsonl --from 2026-05-04T12:00Z --to 2026-05-04T12:05Z")]
    Export(export::Arguments),
    #[cfg(feature = "live")]
    /// Check whether this host can run OASIS, and say what to do.
    ///
    /// Ports, clock, limits, disk and configuration.
    #[command(after_help = "Examples:
  oasis doctor
  oasis doctor --config /etc/oasis/oasis.toml

It changes nothing, and fails if there is a problem.")]
    Doctor(doctor::Arguments),
    /// Prepare a DAC for other hosts, with CA, certificate and token.
    ///
    /// One folder has all of it: CA, certificate, first admin token and settings (docs/guides/secure.md).
    #[command(after_help = "Examples:
  oasis setup --dir /var/lib/oasis dac.example.org 192.0.2.7
  oasis dac --config /var/lib/oasis/oasis.toml

What is there already stays as it is, so it can run before each start.")]
    Setup(setup::Arguments),
    #[cfg(feature = "live")]
    /// Connect an assistant to a DAC (MCP).
    ///
    /// Speaks the Model Context Protocol on standard input and output, for assistants that start programs. A DAC speaks it itself, at POST /mcp. The
    /// assistant may do what its token permits.
    #[command(after_help = "Examples:
  oasis mcp                                  the DAC of this host
  OASIS_TOKEN_FILE=assistant.token oasis mcp --url https://dac.example.org

In the configuration of an assistant:
  {\"mcpServers\": {\"oasis\": {\"command\": \"oasis\", \"args\": [\"mcp\"]}}}")]
    Mcp(mcp::Arguments),
    #[cfg(feature = "live")]
    /// List, start and stop handlers of a DAC.
    #[command(after_help = "Examples:
  oasis handlers                             name, condition and last failure of each
  oasis handlers stop postgresql             until it is started again
  oasis handlers start postgresql")]
    Handlers(Handlers),
    #[cfg(feature = "live")]
    /// List and test destinations of notifications about alarms.
    #[command(after_help = "Examples:
  oasis notify list                          state of each destination, and what waits
  oasis notify test pager                    sends a test and prints the answer")]
    Notify(Notify),
    #[cfg(feature = "live")]
    /// Show or set the number of threads that write to WebSockets.
    ///
    /// They are called shards in the settings. The number changes while the DAC runs.
    #[command(
        alias = "shards",
        after_help = "Examples:
  oasis threads                              load of each
  oasis threads 4                            four, until the DAC restarts; no connection is closed
  oasis threads auto                         as many as the load needs, up to one a core"
    )]
    Threads(Threads),
    /// Add, change and remove users, and print sign-in links.
    #[command(after_help = "Examples:
  oasis user add ada --role operator         asks for a password
  oasis user set-roles ada viewer fitter
  oasis user set-roles stranger viewer       whoever has not signed in may watch
  oasis user list
  oasis user sign-in-link                    another link, for a DAC with --local token")]
    User(access::user::Arguments),
    /// Create, list and revoke API tokens of programs.
    #[command(after_help = "Examples:
  oasis token create grafana --role viewer --expires 90d
  oasis token create kiosk --role viewer --embed --scope 'read plant-7/*' --token-file kiosk.token
  oasis token revoke grafana")]
    Token(access::token::Arguments),
    /// Define, list and remove roles.
    #[command(after_help = "Examples:
  oasis role set fitter --allow 'read plant-*/*' --allow 'command:enable,command:disable plant-*/pump'
  oasis role show fitter
  oasis role list")]
    Role(access::role::Arguments),
    /// Show and verify the audit log: who did what.
    #[command(after_help = "Examples:
  oasis audit-log show -n 20
  oasis audit-log show --from -1d --action command: --json
  oasis audit-log verify")]
    AuditLog(access::audit_log::Arguments),
    /// Run a certificate authority for a DAC and its nodes.
    ///
    /// See docs/guides/use-tls.md.
    #[command(after_help = "Examples:
  oasis ca init                              a CA in the folder oasis-ca
  oasis ca issue server dac.example.org 192.0.2.7
  oasis ca issue node plant-7
  oasis ca trust                             how browsers and systems come to trust it")]
    Ca(ca::Arguments),
    #[cfg(feature = "live")]
    /// Write all that a DAC keeps into one file, while it runs.
    ///
    /// See docs/guides/back-up-a-dac.md.
    #[command(after_help = "Examples:
  oasis backup --config /etc/oasis.toml -o plant.oasis-backup
  oasis backup --archive ~/samples -o samples.oasis-backup
  oasis backup --config /etc/oasis.toml -o - | zstd | ssh vault 'cat > plant.zst'

It has the archive with test runs and annotations, accounts and audit log, alarms, rules, layouts and dashboards, CA, keys and tokens.
The file is as secret as these are.")]
    Backup(backup::Arguments),
    #[cfg(feature = "live")]
    /// Restore a backup into a new folder.
    ///
    /// A DAC can start from it (docs/guides/back-up-a-dac.md).
    #[command(after_help = "Examples:
  oasis restore plant.oasis-backup -o /var/lib/oasis-restored
  zstd -dc plant.zst | oasis restore - -o /var/lib/oasis-restored

A damaged backup, one of a later release, and a folder with something in it are refused, and leave nothing.")]
    Restore(backup::RestoreArguments),
    /// Make a folder with a program that OASIS watches.
    ///
    /// The folder has code, build file and settings (docs/tutorial.md).
    #[command(after_help = "Examples:
  oasis init machine --lang rust
  oasis init machine --lang cpp --sdk ~/.local
  oasis init pump --lang python --name plant-7

It changes no file that exists, and prints the commands that build and run the program.")]
    Init(init::Arguments),
    /// Check, compile and compare probe definitions (PDL).
    #[command(subcommand)]
    Pdl(pdl::Verb),
    /// Check rules, and try them on a recording.
    ///
    /// Alarms, events, derived instances and checks (docs/guides/write-rules.md).
    #[command(subcommand)]
    Rules(rules::Verb),
    /// Measure OASIS beside other servers: runs oasis-lab.
    #[command(after_help = "Examples:
  oasis lab list                             experiments, their plans, servers and variables
  oasis lab run frizelle --quick             server push in several servers, under five minutes
  oasis lab show windcomm                    the pages of an experiment, to be opened by hand
  oasis lab report lab-runs/*                the report of several runs, with intervals")]
    Lab(lab::Arguments),
    /// Print a script that completes commands in a shell.
    ///
    /// Packages install it.
    #[command(after_help = "Examples:
  oasis completions bash > ~/.local/share/bash-completion/completions/oasis
  oasis completions zsh > ~/.zfunc/_oasis    with this folder in fpath
  oasis completions fish > ~/.config/fish/completions/oasis.fish")]
    Completions(completions::Arguments),
    /// Write manual pages, one for each command.
    ///
    /// Packages install them.
    #[command(after_help = "Examples:
  oasis man-pages ~/.local/share/man/man1
  man oasis-dac")]
    ManPages(man_pages::Arguments),
    /// Print the exit codes of all commands.
    #[command(hide = true, after_help = exit_codes::table())]
    ExitCodes(exit_codes::Arguments),
    #[cfg(feature = "live")]
    /// Earlier spelling of `oasis user sign-in-link`.
    #[command(hide = true)]
    SignInLink(SignInLink),
    /// Earlier spelling of `oasis archive remove`.
    #[command(hide = true)]
    Forget(archive::remove::Arguments),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_the_commit_if_it_is_known() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(version_of("0123456789"), format!("{version} (0123456789)"));
        assert_eq!(version_of(""), version);
    }
}
