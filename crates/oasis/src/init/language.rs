//! The languages of programs: their files and commands. A language is a row of each table, and a folder of templates.

use super::sdk::Sdk;
use clap::ValueEnum;
use std::{env, path::Path};
use uuid::Uuid;

/// A language with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Cargo.
    Rust,
    /// C11, with a Makefile.
    C,
    /// C++17, with CMake.
    Cpp,
    /// A device without an operating system, as a process of this host; with a Makefile.
    C99,
    /// Python 3.10 and later.
    Python,
    /// Java 17 and later, with Maven.
    Java,
    /// Go 1.21 and later.
    Go,
}

/// The values that fill the templates.
pub struct TemplateContext<'a> {
    /// Name of the program and its node.
    pub name: &'a str,
    pub sdk: &'a Sdk,
    /// This program.
    pub oasis: &'a Path,
    /// Identity of the probe type.
    pub uuid: Uuid,
}

impl TemplateContext<'_> {
    /// Returns the command of this program in a shell: its name if `PATH` has it, or else its path.
    fn command(&self) -> String {
        let found = env::var_os("PATH")
            .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join("oasis").is_file()));
        if found { "oasis".into() } else { self.oasis.display().to_string() }
    }

    fn fill(&self, template: &str) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let minor = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
        let package = match self.sdk {
            Sdk::Wheel(wheel) => wheel.display().to_string(),
            other => other.path().join("sdk/python").display().to_string(),
        };
        let values = [
            ("@name@", self.name),
            ("@sdk@", &self.sdk.path().to_string_lossy()),
            ("@oasis@", &self.oasis.to_string_lossy()),
            ("@command@", &self.command()),
            ("@uuid@", &self.uuid.to_string()),
            ("@version@", version),
            ("@minor@", minor),
            ("@package@", &package),
        ];
        values.into_iter().fold(template.to_owned(), |text, (sign, value)| text.replace(sign, value))
    }
}

/// Path and template.
type Template = (&'static str, &'static str);

const PDL: Template = ("probes.pdl", include_str!("templates/probes.pdl"));
const SETTINGS: &str = include_str!("templates/oasis.toml");
const GATEWAY: &str = include_str!("templates/gateway.toml");
const README: &str = include_str!("templates/README.md");
const IGNORED: Template = (".gitignore", include_str!("templates/gitignore"));

impl Language {
    /// Which SDKs it can be built with, for messages.
    pub fn places(self) -> &'static str {
        match self {
            Self::C | Self::Cpp => "a checkout of OASIS or the folder that it is installed in",
            Self::Python => "a checkout of OASIS or a wheel",
            Self::Rust | Self::C99 | Self::Java | Self::Go => "a checkout of OASIS",
        }
    }

    /// Whether a program can be built with an SDK.
    pub fn takes(self, sdk: &Sdk) -> bool {
        match sdk {
            Sdk::Checkout(_) => true,
            Sdk::Installed(_) => matches!(self, Self::C | Self::Cpp),
            Sdk::Wheel(_) => self == Self::Python,
        }
    }

    /// The files of a program: paths and texts.
    pub fn files(self, context: &TemplateContext<'_>) -> Vec<(&'static str, String)> {
        let settings = if self == Self::C99 { format!("{SETTINGS}{GATEWAY}") } else { SETTINGS.to_owned() };
        let mut files = vec![("README.md", self.readme(context)), ("oasis.toml", settings)];
        let declared = if self.has_pdl() { Some(PDL) } else { None };
        let templates = declared.into_iter().chain(self.templates(context.sdk)).chain([IGNORED]);
        files.extend(templates.map(|(path, template)| (path, context.fill(template))));
        files
    }

    /// Commands that start a DAC, build the program and run it, in its folder.
    pub fn commands(self, context: &TemplateContext<'_>) -> [String; 3] {
        let up = "@command@ up --config oasis.toml";
        let (build, run) = match self {
            Self::Rust => ("cargo build", "cargo run"),
            Self::C | Self::C99 => ("make", "build/@name@"),
            Self::Cpp => ("cmake -S . -B build && cmake --build build", "build/@name@"),
            Self::Python => (
                "python3 -m venv venv && venv/bin/pip install -r requirements.txt && @command@ pdl compile --lang python probes.pdl",
                "venv/bin/python main.py",
            ),
            Self::Java => {
                ("mvn -q -f @sdk@/sdk/java install -Dmaven.test.skip && mvn -q compile", "mvn -q exec:java")
            }
            Self::Go => ("go build -o build/@name@ .", "build/@name@"),
        };
        [up, build, run].map(|command| context.fill(command))
    }

    /// Whether probes are declared in a PDL file; else the program declares them itself.
    fn has_pdl(self) -> bool {
        !matches!(self, Self::Java | Self::Go)
    }

    /// Its name, and its page of the documentation.
    fn known_as(self) -> (&'static str, &'static str) {
        match self {
            Self::Rust => ("Rust", "docs/tutorial.md"),
            Self::C => ("C", "docs/sdk/c.md"),
            Self::Cpp => ("C++", "docs/sdk/cpp.md"),
            Self::C99 => ("C99", "docs/sdk/embedded.md"),
            Self::Python => ("Python", "docs/sdk/python.md"),
            Self::Java => ("Java", "docs/sdk/java.md"),
            Self::Go => ("Go", "docs/sdk/go.md"),
        }
    }

    fn readme(self, context: &TemplateContext<'_>) -> String {
        let (language, guide) = self.known_as();
        let declared = if self.has_pdl() {
            "`probes.pdl` says what is measured."
        } else {
            "The program declares itself what is measured."
        };
        let [_, build, run] = self.commands(context);
        let values = [
            ("@language@", language),
            ("@guide@", guide),
            ("@declared@", declared),
            ("@build@", &build),
            ("@run@", &run),
        ];
        let text =
            values.into_iter().fold(README.to_owned(), |text, (sign, value)| text.replace(sign, value));
        context.fill(&text)
    }

    fn templates(self, sdk: &Sdk) -> Vec<Template> {
        let is_installed = matches!(sdk, Sdk::Installed(_));
        match self {
            Self::Rust => vec![
                ("Cargo.toml", include_str!("templates/rust/Cargo.toml")),
                ("build.rs", include_str!("templates/rust/build.rs")),
                ("src/main.rs", include_str!("templates/rust/src/main.rs")),
            ],
            Self::C => {
                let with_checkout = include_str!("templates/c/Makefile.checkout");
                let with_installed = include_str!("templates/c/Makefile.installed");
                let makefile = if is_installed { with_installed } else { with_checkout };
                vec![("Makefile", makefile), ("main.c", include_str!("templates/c/main.c"))]
            }
            Self::Cpp => {
                let with_checkout = include_str!("templates/cpp/CMakeLists.checkout.txt");
                let with_installed = include_str!("templates/cpp/CMakeLists.installed.txt");
                let lists = if is_installed { with_installed } else { with_checkout };
                vec![("CMakeLists.txt", lists), ("main.cpp", include_str!("templates/cpp/main.cpp"))]
            }
            Self::C99 => vec![
                ("Makefile", include_str!("templates/c99/Makefile")),
                ("main.c", include_str!("templates/c99/main.c")),
            ],
            Self::Python => vec![
                ("requirements.txt", include_str!("templates/python/requirements.txt")),
                ("main.py", include_str!("templates/python/main.py")),
            ],
            Self::Java => vec![
                ("pom.xml", include_str!("templates/java/pom.xml")),
                ("src/main/java/Main.java", include_str!("templates/java/src/main/java/Main.java")),
            ],
            Self::Go => vec![
                ("go.mod", include_str!("templates/go/go.mod.txt")),
                ("main.go", include_str!("templates/go/main.go")),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_every_language_is_filled() {
        let [checkout, installed, wheel] =
            [Sdk::Checkout("/sdk".into()), Sdk::Installed("/usr/local".into()), Sdk::Wheel("/w.whl".into())];
        for language in Language::value_variants() {
            for sdk in [&checkout, &installed, &wheel].into_iter().filter(|sdk| language.takes(sdk)) {
                let oasis = Path::new("/opt/oasis");
                let context = TemplateContext { name: "plant-7", sdk, oasis, uuid: Uuid::nil() };
                let files = language.files(&context);
                for (path, text) in &files {
                    assert!(!text.is_empty() && !text.contains("@name") && !text.contains("@sdk"), "{path}");
                    let left =
                        text.split_whitespace().find(|word| word.starts_with('@') && word.ends_with('@'));
                    assert_eq!(left, None, "{language:?} {path}");
                }
                let named = |name: &str| files.iter().any(|(path, _)| *path == name);
                assert!(named("README.md") && named("oasis.toml") && named(".gitignore"), "{language:?}");
                assert_eq!(named("probes.pdl"), language.has_pdl());
            }
        }
    }
}
