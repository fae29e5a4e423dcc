//! The languages of programs: their files and commands. A language is a row of each table, and a folder of templates.

use super::sdk::Sdk;
use clap::ValueEnum;
use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// A language with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Cargo.
    Rust,
    /// C11, with a Makefile.
    C,
    /// C++17, with CMake.
    #[value(alias = "c++")]
    Cpp,
    /// A device without an operating system, as a process of this host; with a Makefile.
    C99,
    /// Python 3.10 and later.
    #[value(alias = "py")]
    Python,
    /// Java 17 and later, with Maven.
    Java,
    /// Go 1.21 and later.
    #[value(alias = "golang")]
    Go,
    /// A reader for Node 20.10 and later.
    #[value(aliases = ["ts", "javascript", "js"])]
    Typescript,
}

/// The values that fill the templates.
pub struct TemplateContext<'a> {
    pub language: Language,
    /// Name of the program and its node.
    pub name: &'a str,
    pub sdk: &'a Sdk,
    /// This program.
    pub oasis: &'a Path,
    /// Identity of the probe type.
    pub uuid: Uuid,
}

impl TemplateContext<'_> {
    /// Returns the command of this program in a shell: its name if `PATH` finds it by that, or else its path.
    fn command(&self) -> String {
        let path = env::var_os("PATH").unwrap_or_default();
        if is_found_first(self.oasis, &path) { "oasis".into() } else { self.oasis.display().to_string() }
    }

    /// Returns the folder with the sources of the language.
    fn sources(&self) -> PathBuf {
        match self.sdk {
            Sdk::Checkout(checkout) => checkout.join("sdk").join(self.language.folder()),
            other => other.path().to_owned(),
        }
    }

    /// Returns the lines of a POM that say where Maven finds the jar.
    fn repository(&self) -> String {
        match self.sdk {
            Sdk::Packaged(folder) => format!(
                "  <repositories>\n    <repository><id>oasis</id><url>file://{}</url></repository>\n  </repositories>\n\n",
                folder.display()
            ),
            _ => String::new(),
        }
    }

    /// Returns the lines of a manifest of Cargo that take the crates of a package in the place of those of crates.io.
    fn patched_crates(&self) -> String {
        let folder = self.sdk.path().display();
        let line = |name: &&str| format!("{name} = {{ path = \"{folder}/{name}\" }}\n");
        PATCHED_CRATES.iter().map(line).collect()
    }

    fn fill(&self, template: &str) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let minor = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
        let package = match self.sdk {
            Sdk::Wheel(wheel) => wheel.display().to_string(),
            other => other.path().join("sdk/python").display().to_string(),
        };
        let sources = self.sources();
        let values = [
            ("@name@", self.name),
            ("@sdk@", &self.sdk.path().to_string_lossy()),
            ("@sources@", &sources.to_string_lossy()),
            ("@oasis@", &self.oasis.to_string_lossy()),
            ("@command@", &self.command()),
            ("@uuid@", &self.uuid.to_string()),
            ("@version@", version),
            ("@minor@", minor),
            ("@package@", &package),
            ("@repository@", &self.repository()),
            ("@crates@", &self.patched_crates()),
        ];
        values.into_iter().fold(template.to_owned(), |text, (sign, value)| text.replace(sign, value))
    }
}

/// Whether a shell with this `PATH` starts the program as `oasis`. Under npx, `PATH` has a script of that name which the
/// next shell does not find, and a system may have an older release.
fn is_found_first(program: &Path, path: &OsStr) -> bool {
    let first = env::split_paths(path).map(|folder| folder.join("oasis")).find(|found| found.is_file());
    let Some(first) = first else { return false };
    matches!((fs::canonicalize(first), fs::canonicalize(program)), (Ok(first), Ok(program)) if first == program)
}

/// The crates that a program in Rust and its build script link.
const PATCHED_CRATES: [&str; 11] = [
    "oasis-channel",
    "oasis-client",
    "oasis-ei-node",
    "oasis-no-openapi",
    "oasis-pdl",
    "oasis-pdl-gen",
    "oasis-probe",
    "oasis-probe-derive",
    "oasis-tem",
    "oasis-tls",
    "oasis-wire",
];

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
            Self::Python => "a checkout of OASIS, the folder of a package such as /usr, or a wheel",
            Self::Rust | Self::C99 | Self::Java | Self::Go | Self::Typescript => {
                "a checkout of OASIS or the folder of a package such as /usr"
            }
        }
    }

    /// Its folder among the SDKs of a package.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::C | Self::Cpp => "c",
            Self::C99 => "embedded",
            Self::Python => "python",
            Self::Java => "java",
            Self::Go => "go",
            Self::Typescript => "typescript",
        }
    }

    /// Whether a program can be built with an SDK.
    pub fn takes(self, sdk: &Sdk) -> bool {
        match sdk {
            Sdk::Checkout(_) | Sdk::Packaged(_) => true,
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
        let is_packaged = matches!(context.sdk, Sdk::Packaged(_));
        let (build, run) = match self {
            Self::Rust => ("cargo build", "cargo run"),
            Self::C | Self::C99 => ("make", "build/@name@"),
            Self::Cpp => ("cmake -S . -B build && cmake --build build", "build/@name@"),
            Self::Python => (
                "python3 -m venv venv && venv/bin/pip install -r requirements.txt && @command@ pdl compile --lang python probes.pdl",
                "venv/bin/python main.py",
            ),
            Self::Java if is_packaged => (
                "javac -d build -cp @sdk@/oasis-monitor.jar src/main/java/Main.java",
                "java -cp build:@sdk@/oasis-monitor.jar Main",
            ),
            Self::Java => {
                ("mvn -q -f @sdk@/sdk/java install -Dmaven.test.skip && mvn -q compile", "mvn -q exec:java")
            }
            Self::Go => ("go build -o build/@name@ .", "build/@name@"),
            Self::Typescript if is_packaged => {
                ("npm install --offline --no-audit --no-fund", "npm start --silent")
            }
            Self::Typescript => (
                "npm --prefix @sdk@ run build --workspace sdk/typescript && npm install --offline --no-audit --no-fund",
                "npm start --silent",
            ),
        };
        [up, build, run].map(|command| context.fill(command))
    }

    /// Whether probes are declared in a PDL file; else the program declares them itself.
    fn has_pdl(self) -> bool {
        !matches!(self, Self::Java | Self::Go | Self::Typescript)
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
            Self::Typescript => ("TypeScript", "docs/sdk/typescript.md"),
        }
    }

    /// Returns the sentence about the result.
    fn shown(self) -> &'static str {
        match self {
            Self::Typescript => {
                "It prints the newest sample of `processor` of this host, ten times a second."
            }
            _ => "The page shows `@name@/motor` at once, and so does `@command@ tail @name@/motor`.",
        }
    }

    /// Returns the sentence about the variables that the program obeys.
    fn environment(self) -> &'static str {
        match self {
            Self::Rust | Self::C | Self::Cpp | Self::Python => {
                "`OASIS_DAC` names another DAC, `OASIS_CONFIG` a file with settings of the node."
            }
            Self::Java | Self::Go => {
                "`OASIS_DAC` names another DAC. `OASIS_CONFIG` is refused: only settings in code apply."
            }
            Self::C99 => {
                "`OASIS_DAC` and `OASIS_CONFIG` are refused: a device sends to the gateway of a DAC."
            }
            Self::Typescript => "`OASIS_URL` names another DAC.",
        }
    }

    fn readme(self, context: &TemplateContext<'_>) -> String {
        let (language, guide) = self.known_as();
        let declared = match self {
            Self::Typescript => "The types of the samples come with them.",
            _ if self.has_pdl() => "`probes.pdl` says what is measured.",
            _ => "The program declares itself what is measured.",
        };
        let [_, build, run] = self.commands(context);
        let values = [
            ("@language@", language),
            ("@guide@", guide),
            ("@declared@", declared),
            ("@shown@", self.shown()),
            ("@environment@", self.environment()),
            ("@build@", &build),
            ("@run@", &run),
        ];
        let text =
            values.into_iter().fold(README.to_owned(), |text, (sign, value)| text.replace(sign, value));
        context.fill(&text)
    }

    fn templates(self, sdk: &Sdk) -> Vec<Template> {
        let is_packaged = matches!(sdk, Sdk::Packaged(_));
        let is_installed = matches!(sdk, Sdk::Installed(_));
        match self {
            Self::Rust => {
                let with_checkout = include_str!("templates/rust/Cargo.toml");
                let with_package = include_str!("templates/rust/Cargo.packaged.toml");
                vec![
                    ("Cargo.toml", if is_packaged { with_package } else { with_checkout }),
                    ("build.rs", include_str!("templates/rust/build.rs")),
                    ("src/main.rs", include_str!("templates/rust/src/main.rs")),
                ]
            }
            Self::C => {
                let makefile = match sdk {
                    _ if is_packaged => include_str!("templates/c/Makefile.packaged"),
                    _ if is_installed => include_str!("templates/c/Makefile.installed"),
                    _ => include_str!("templates/c/Makefile.checkout"),
                };
                vec![("Makefile", makefile), ("main.c", include_str!("templates/c/main.c"))]
            }
            Self::Cpp => {
                let lists = match sdk {
                    _ if is_packaged => include_str!("templates/cpp/CMakeLists.packaged.txt"),
                    _ if is_installed => include_str!("templates/cpp/CMakeLists.installed.txt"),
                    _ => include_str!("templates/cpp/CMakeLists.checkout.txt"),
                };
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
            Self::Typescript => {
                let with_checkout = include_str!("templates/typescript/package.json");
                let with_package = include_str!("templates/typescript/package.packaged.json");
                vec![
                    ("package.json", if is_packaged { with_package } else { with_checkout }),
                    ("main.js", include_str!("templates/typescript/main.js")),
                ]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_by_name_only_where_path_finds_it_first() {
        let work = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = work.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        };
        let [here, script, linked, empty] = ["here", "script", "linked", "empty"].map(folder);
        let program = here.join("oasis");
        fs::write(&program, "program").unwrap();
        fs::write(script.join("oasis"), "script of npm").unwrap();
        std::os::unix::fs::symlink(&program, linked.join("oasis")).unwrap();
        let is_found = |folders: &[&Path]| is_found_first(&program, &env::join_paths(folders).unwrap());
        assert!(is_found(&[&empty, &here, &script]) && is_found(&[&linked, &script]));
        assert!(!is_found(&[&script, &here]) && !is_found(&[&empty]) && !is_found(&[]));
        assert!(!is_found_first(&work.path().join("removed"), here.as_os_str()));
    }

    #[test]
    fn usual_names_of_languages_are_taken() {
        for (name, language) in [
            ("c++", Language::Cpp),
            ("golang", Language::Go),
            ("py", Language::Python),
            ("ts", Language::Typescript),
            ("js", Language::Typescript),
        ] {
            assert_eq!(Language::from_str(name, false), Ok(language));
        }
    }

    #[test]
    fn every_file_of_every_language_is_filled() {
        let [checkout, installed, wheel, packaged] = [
            Sdk::Checkout("/sdk".into()),
            Sdk::Installed("/usr/local".into()),
            Sdk::Wheel("/w.whl".into()),
            Sdk::Packaged("/usr/share/oasis/sdk/any".into()),
        ];
        for &language in Language::value_variants() {
            for sdk in
                [&checkout, &installed, &wheel, &packaged].into_iter().filter(|sdk| language.takes(sdk))
            {
                let oasis = Path::new("/opt/oasis");
                let context = TemplateContext { language, name: "plant-7", sdk, oasis, uuid: Uuid::nil() };
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
