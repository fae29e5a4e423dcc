//! Three versions of Tomcat, and Jetty, which Maven builds once.

use super::{Downloads, TestPlan};
use crate::nodejs::from_checkout;
use anyhow::{Context, bail, ensure};
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The sources.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/rivals/java");
/// Directory of Maven's output.
const BUILT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/lab/rivals/java");
/// The log of the garbage collector, in the folder of a cell.
pub const GC_LOG: &str = "gc.log";
/// Lines of Maven's output in an error.
const LINES: usize = 3;

/// Builds a version unless it is there, and returns its name with Java's.
pub fn build(server: &str, downloads: Downloads) -> anyhow::Result<String> {
    let module = module(server)?;
    from_checkout(Path::new(SOURCES))?;
    let java = run(Command::new("java").arg("-version"))
        .context("this server needs Java 17: install a JDK and Maven")?;
    if jars(module).is_err() {
        eprintln!("building Tomcat and Jetty with Maven, once");
        let mut maven = Command::new("mvn");
        maven.args(["--batch-mode", "--quiet", "--file", SOURCES, "package"]);
        if downloads == Downloads::Refused {
            maven.arg("--offline");
        }
        run(&mut maven).context("Maven cannot build the servers of Java")?;
    }
    let server = jars(module)?
        .into_iter()
        .find_map(|jar| version(&jar))
        .context("no jar of the server in its folder")?;
    let java = String::from_utf8_lossy(&java.stderr).lines().next().unwrap_or_default().to_owned();
    Ok(format!("{server}, {java}"))
}

/// Starts a version with the memory of the plan, and a log of its garbage collector.
pub fn command(server: &str, plan: &TestPlan, folder: &Path) -> anyhow::Result<Command> {
    let module = module(server)?;
    let jars = jars(module)?.into_iter().map(|jar| jar.display().to_string()).collect::<Vec<_>>();
    let mut command = Command::new("java");
    command.arg(format!("-Xmx{}", plan.jvm_heap)).arg(format!("-Xss{}k", plan.jvm_stack));
    command.arg(format!("-Xlog:gc:file={}", folder.join(GC_LOG).display()));
    command.args(["-cp", &jars.join(":"), "oasis.lab.push.Main"]);
    command.args([plan.server_host.to_string(), plan.server_port.to_string()]);
    Ok(command)
}

fn module(server: &str) -> anyhow::Result<&'static str> {
    match server {
        "tc6" => Ok("tomcat6"),
        "tc7" => Ok("tomcat7"),
        "tc11" => Ok("tomcat11"),
        "jetty" => Ok("jetty12"),
        other => bail!("no server {other}"),
    }
}

/// The built server and everything that it needs.
fn jars(module: &str) -> anyhow::Result<Vec<PathBuf>> {
    let folder = Path::new(BUILT).join(format!("push-{module}"));
    let own = folder.join(format!("push-{module}-1.jar"));
    ensure!(own.exists(), "{} is not built", own.display());
    let libraries = folder.join("lib");
    let entries = libraries.read_dir().with_context(|| format!("cannot read {}", libraries.display()))?;
    let mut jars = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    jars.push(own);
    Ok(jars)
}

/// `Tomcat 7.0.105` of `tomcat-embed-core-7.0.105.jar`, or of `catalina-6.0.53.jar`; `Jetty 12.0.16` of `jetty-server-12.0.16.jar`.
fn version(jar: &Path) -> Option<String> {
    let name = jar.file_stem()?.to_str()?;
    let of = |stem: &str, server: &str| name.strip_prefix(stem).map(|version| format!("{server} {version}"));
    of("tomcat-embed-core-", "Tomcat")
        .or_else(|| of("catalina-", "Tomcat"))
        .or_else(|| of("jetty-server-", "Jetty"))
}

fn run(command: &mut Command) -> anyhow::Result<Output> {
    let name = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().rev().take(LINES).collect::<Vec<_>>();
        bail!("{name}: {}: {}", output.status, last.into_iter().rev().collect::<Vec<_>>().join("; "));
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_in_the_name_of_a_jar() {
        let version = |jar: &str| version(&Path::new("lib").join(jar));
        assert_eq!(version("tomcat-embed-core-7.0.105.jar").as_deref(), Some("Tomcat 7.0.105"));
        assert_eq!(version("catalina-6.0.53.jar").as_deref(), Some("Tomcat 6.0.53"));
        assert_eq!(version("jetty-server-12.0.16.jar").as_deref(), Some("Jetty 12.0.16"));
        assert_eq!(version("servlet-api-6.0.53.jar"), None);
    }
}
