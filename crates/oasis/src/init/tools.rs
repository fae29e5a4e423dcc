//! Programs that a language needs on this host, and the packages that have them.

use super::{language::Language, sdk::Sdk};
use std::{
    io::{self, Read},
    process::{Command, Stdio},
};

/// Longest output of a program that is read for its version.
const MAX_VERSION_BYTES: u64 = 4096;

/// A program, and where it is from.
#[derive(Debug)]
pub struct Tool {
    name: &'static str,
    /// Arguments that print its version.
    arguments: &'static [&'static str],
    /// The oldest version that will do.
    least: (u32, u32),
    /// Packages of Debian and Fedora, and of those that derive from them.
    packages: [&'static str; 2],
    /// Page with the newest version, for systems that have an old one; empty if any will do.
    site: &'static str,
}

const CC: Tool = tool("cc", (0, 0), ["gcc libc6-dev", "gcc"], "");
const CXX: Tool = tool("c++", (7, 0), ["g++", "gcc-c++"], "");
const MAKE: Tool = tool("make", (0, 0), ["make", "make"], "");
const CMAKE: Tool = tool("cmake", (3, 16), ["cmake", "cmake"], "https://cmake.org");
const MAVEN: Tool = tool("mvn", (3, 6), ["maven", "maven"], "https://maven.apache.org");
const CARGO: Tool = tool("cargo", (1, 90), ["cargo", "cargo"], "https://rustup.rs");
const NODE: Tool = tool("node", (20, 10), ["nodejs", "nodejs"], "https://nodejs.org");
const NPM: Tool = tool("npm", (0, 0), ["npm", "nodejs-npm"], "https://nodejs.org");
const PYTHON: Tool = tool("python3", (3, 10), ["python3", "python3"], "https://www.python.org");
const VENV: Tool = Tool {
    arguments: &["-c", "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"],
    ..tool("python3", (0, 0), ["python3-venv", "python3"], "")
};
const JAVAC: Tool = Tool {
    arguments: &["-version"],
    ..tool("javac", (17, 0), ["default-jdk-headless", "java-17-openjdk-devel"], "https://adoptium.net")
};
const GO: Tool =
    Tool { arguments: &["version"], ..tool("go", (1, 21), ["golang-go", "golang"], "https://go.dev/dl") };

const fn tool(
    name: &'static str,
    least: (u32, u32),
    packages: [&'static str; 2],
    site: &'static str,
) -> Tool {
    Tool { name, arguments: &["--version"], least, packages, site }
}

impl Language {
    /// The programs that build and run a program of this language, in the order in which they are needed.
    fn tools(self, sdk: &Sdk) -> &'static [Tool] {
        let is_checkout = matches!(sdk, Sdk::Checkout(_));
        match self {
            Self::Rust => &[CC, CARGO],
            Self::C if is_checkout => &[CC, MAKE, CARGO],
            Self::C | Self::C99 => &[CC, MAKE],
            Self::Cpp if is_checkout => &[CXX, CMAKE, MAKE, CARGO],
            Self::Cpp => &[CXX, CMAKE, MAKE],
            Self::Python if is_checkout => &[PYTHON, VENV, CARGO],
            Self::Python => &[PYTHON, VENV],
            Self::Java if is_checkout => &[JAVAC, MAVEN],
            Self::Java => &[JAVAC],
            Self::Go => &[GO],
            Self::Typescript => &[NODE, NPM],
        }
    }

    /// The duration of the first build on two processors, and what it downloads.
    fn first_build(self, sdk: &Sdk) -> &'static str {
        match (self, sdk) {
            (Self::Rust, _) => {
                "The first build compiles some 100 crates, about two minutes. Cargo downloads those of crates.io once."
            }
            (Self::C | Self::Cpp | Self::Python, Sdk::Checkout(_)) => {
                "The first build compiles the SDK, some minutes. Cargo downloads its crates once."
            }
            (Self::Java, Sdk::Checkout(_)) => "The first build takes 20 s. Maven downloads its plugins once.",
            (Self::Cpp | Self::Python | Self::Go, _) => {
                "The first build takes about 10 s and downloads nothing."
            }
            (Self::C | Self::C99 | Self::Java | Self::Typescript, _) => {
                "The build takes about 3 s and downloads nothing."
            }
        }
    }
}

/// Returns the lines that say what a program needs, and which part of that this host lacks.
pub fn requirements(language: Language, sdk: &Sdk) -> Vec<String> {
    let tools = language.tools(sdk);
    let mut names: Vec<String> = tools.iter().map(Tool::wanted).collect();
    names.dedup();
    let mut lines = vec![format!("Needs {}. {}", names.join(", "), language.first_build(sdk))];
    lines.extend(tools.iter().filter_map(|tool| tool.problem(&tool.version())));
    lines
}

/// The answer of a tool.
#[derive(Debug, PartialEq, Eq)]
enum Version {
    /// The program cannot be started.
    Missing,
    /// The program ends with an error: a part of it is missing.
    Failed,
    /// None is in what it prints.
    Unknown,
    Known(u32, u32),
}

impl Tool {
    fn wanted(&self) -> String {
        match self.least {
            (0, 0) => self.name.to_owned(),
            (major, 0) => format!("{} {major} or later", self.name),
            (major, minor) => format!("{} {major}.{minor} or later", self.name),
        }
    }

    /// Starts the program and reads its version.
    fn version(&self) -> Version {
        let mut command = Command::new(self.name);
        command.args(self.arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            return Version::Missing;
        };
        let mut printed = Vec::new();
        if let Some(out) = child.stdout.take() {
            // An output that cannot be read has no version, which is no reason to refuse the program.
            let mut out = out.take(MAX_VERSION_BYTES);
            let _ = out.read_to_end(&mut printed);
            let _ = io::copy(&mut out.into_inner(), &mut io::sink());
        }
        match child.wait() {
            Ok(status) if status.success() => parse_version(&String::from_utf8_lossy(&printed)),
            _ => Version::Failed,
        }
    }

    /// Says what is wrong with a version, and the remedy.
    fn problem(&self, version: &Version) -> Option<String> {
        let what = match version {
            Version::Unknown => return None,
            Version::Known(major, minor) if (*major, *minor) >= self.least => return None,
            Version::Known(major, minor) => format!("Too old: {} {major}.{minor}.", self.name),
            Version::Missing => format!("Missing: {}.", self.name),
            Version::Failed => format!("Incomplete: {}.", self.name),
        };
        let [debian, fedora] = self.packages;
        let newer = if self.site.is_empty() { String::new() } else { format!(", or from {}", self.site) };
        Some(format!(
            "{what} Get {} with `sudo apt install {debian}` (Debian, Ubuntu) or `sudo dnf install {fedora}` (Fedora, RHEL){newer}.",
            self.wanted()
        ))
    }
}

/// The first number with a point in it, or else the first number.
fn parse_version(printed: &str) -> Version {
    let words = printed.split(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
    let numbers: Vec<&str> =
        words.filter(|word| word.starts_with(|first: char| first.is_ascii_digit())).collect();
    let Some(version) = numbers.iter().find(|word| word.contains('.')).or(numbers.first()) else {
        return Version::Unknown;
    };
    let mut parts = version.split('.').map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Version::Known(major, minor),
        (Some(Ok(major)), _) => Version::Known(major, 0),
        _ => Version::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_programs_print_them() {
        for (printed, version) in [
            ("go version go1.26.8 linux/amd64\n", Version::Known(1, 26)),
            ("cc (Debian 12.2.0-14+deb12u1) 12.2.0\n", Version::Known(12, 2)),
            ("v20.20.2\n", Version::Known(20, 20)),
            ("javac 21\n", Version::Known(21, 0)),
            ("cargo 1.93.0-nightly (abc 2026-01-01)\n", Version::Known(1, 93)),
            ("", Version::Unknown),
            ("99999999999.1", Version::Unknown),
        ] {
            assert_eq!(parse_version(printed), version, "{printed}");
        }
    }

    #[test]
    fn a_missing_tool_is_named_with_its_package() {
        let problem = |version| CMAKE.problem(&version);
        assert_eq!(problem(Version::Known(3, 16)), None);
        assert_eq!(problem(Version::Known(4, 0)), None);
        let old = problem(Version::Known(3, 5)).unwrap();
        assert!(
            old.starts_with("Too old: cmake 3.5. Get cmake 3.16 or later with `sudo apt install"),
            "{old}"
        );
        let venv = VENV.problem(&Version::Failed).unwrap();
        assert!(venv.starts_with("Incomplete: python3.") && venv.contains("python3-venv"), "{venv}");
        let absent = Tool { name: "oasis-has-no-such-program", ..CC };
        assert_eq!(absent.version(), Version::Missing);
        assert_eq!(Tool { name: "false", ..CC }.version(), Version::Failed);
    }

    #[test]
    fn a_package_needs_no_compiler_of_rust_but_for_rust() {
        let packaged = Sdk::Packaged("/usr/share/oasis/sdk/any".into());
        for language in [Language::C, Language::Cpp, Language::Python, Language::Java, Language::Go] {
            assert!(language.tools(&packaged).iter().all(|tool| tool.name != "cargo"), "{language:?}");
            assert!(language.first_build(&packaged).contains("downloads nothing"), "{language:?}");
        }
        assert!(Language::Rust.first_build(&packaged).contains("crates.io"));
    }
}
