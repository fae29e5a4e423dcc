//! Finds the SDK of a language.

use super::language::Language;
use anyhow::{Context, bail};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// An SDK on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sdk {
    /// The sources of OASIS.
    Checkout(PathBuf),
    /// A folder with `include/oasis.h`, the library and its packages for CMake and pkg-config.
    Installed(PathBuf),
    /// A wheel of the Python package.
    Wheel(PathBuf),
    /// A folder that packages of OASIS have for one language, below `share/oasis/sdk`.
    Packaged(PathBuf),
}

/// Folder of the SDKs below that which a package is installed in.
const PACKAGED_SDKS: &str = "share/oasis/sdk";

impl Sdk {
    /// Returns the SDK at the given place, or that which belongs to a program.
    ///
    /// # Errors
    /// If there is none, or not for this language.
    pub fn find(given: Option<&Path>, program: &Path, language: Language) -> anyhow::Result<Self> {
        let found = match given {
            Some(path) => Some(Self::at(path)?),
            None => Self::of(program),
        };
        let places = language.places();
        let Some(sdk) = found else {
            bail!(
                "no SDK belongs to {}: install a package of OASIS, which has it in {PACKAGED_SDKS} (docs/guides/install.md), or name {places} with --sdk PATH",
                program.display()
            );
        };
        let sdk = match sdk {
            Self::Packaged(folder) => Self::of_package(&folder, language)?,
            other => other,
        };
        if !language.takes(&sdk) {
            bail!("{} has nothing for this language: name {places} with --sdk PATH", sdk.path().display());
        }
        // They stand in files of make, CMake, TOML and XML.
        let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@~".contains(letter);
        if !sdk.path().to_str().is_some_and(|path| path.chars().all(is_plain)) {
            bail!(
                "build files cannot have a path with spaces or signs: link to {} from elsewhere, and name the link with --sdk PATH",
                sdk.path().display()
            );
        }
        Ok(sdk)
    }

    /// The folder, or the wheel.
    pub fn path(&self) -> &Path {
        match self {
            Self::Checkout(path) | Self::Installed(path) | Self::Wheel(path) | Self::Packaged(path) => path,
        }
    }

    /// Checks a path that the user named. Links stay as they are.
    fn at(path: &Path) -> anyhow::Result<Self> {
        let full = std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()))?;
        if full.extension().is_some_and(|extension| extension == "whl") && full.is_file() {
            return Ok(Self::Wheel(full));
        }
        Self::in_folder(&full).with_context(|| {
            format!("{} is neither a checkout of OASIS nor an installation: --sdk PATH", path.display())
        })
    }

    /// Returns the files of a language among those of a package.
    fn of_package(sdks: &Path, language: Language) -> anyhow::Result<Self> {
        let found = match language {
            Language::Python => wheel_in(&sdks.join("python"), has_musl_alone()).map(Self::Wheel),
            _ => Some(sdks.join(language.folder())).filter(|folder| folder.is_dir()).map(Self::Packaged),
        };
        found.with_context(|| {
            format!(
                "{} has no files of version {} for this language: install the package of OASIS again (docs/guides/install.md), or name {} with --sdk PATH",
                sdks.display(),
                env!("CARGO_PKG_VERSION"),
                language.places()
            )
        })
    }

    /// The checkout that a program was built in, or the installation that it is a part of.
    fn of(program: &Path) -> Option<Self> {
        let program = fs::canonicalize(program).ok()?;
        program.ancestors().skip(1).find_map(Self::in_folder)
    }

    fn in_folder(folder: &Path) -> Option<Self> {
        if folder.join("crates/probe/Cargo.toml").is_file() && folder.join("sdk").is_dir() {
            Some(Self::Checkout(folder.to_owned()))
        } else if folder.join(PACKAGED_SDKS).is_dir() {
            Some(Self::Packaged(folder.join(PACKAGED_SDKS)))
        } else if folder.join("include/oasis.h").is_file() {
            Some(Self::Installed(folder.to_owned()))
        } else {
            None
        }
    }
}

/// Returns the wheel of this version in a folder. Where there is one for each C library, it is that of the host.
fn wheel_in(folder: &Path, has_musl: bool) -> Option<PathBuf> {
    let begin = concat!("oasis_monitor-", env!("CARGO_PKG_VERSION"), "-");
    let is_wheel = |name: &String| name.starts_with(begin) && name.ends_with(".whl");
    let wheels = file_names(folder).filter(is_wheel);
    let wheel = wheels.max_by_key(|name| name.contains("musllinux") == has_musl)?;
    Some(folder.join(wheel))
}

/// Whether musl is the only C library of this host, as on Alpine: the static program runs there and elsewhere.
fn has_musl_alone() -> bool {
    let has_loader =
        |folder: &str, begin: &str| file_names(Path::new(folder)).any(|name| name.starts_with(begin));
    has_loader("/lib", "ld-musl-") && !has_loader("/lib", "ld-linux") && !has_loader("/lib64", "ld-linux")
}

/// Returns the names of the files in a folder; none if it cannot be read.
fn file_names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(folder: &Path, file: &str) -> PathBuf {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        path
    }

    #[test]
    fn an_sdk_is_found_beside_the_program_or_where_it_is_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        let program = made(&folder, "installed/bin/oasis");
        let error = Sdk::find(None, &program, Language::Cpp).unwrap_err().to_string();
        assert!(error.contains("--sdk PATH") && error.contains("install.md"), "{error}");
        made(&folder, "installed/include/oasis.h");
        let installed = Sdk::Installed(folder.join("installed"));
        assert_eq!(Sdk::find(None, &program, Language::Cpp).unwrap(), installed);
        let error = Sdk::find(None, &program, Language::Go).unwrap_err().to_string();
        assert!(error.contains("nothing for this language: name a checkout"), "{error}");
        made(&folder, "installed/share/oasis/sdk/go/go.mod");
        let packaged = Sdk::Packaged(folder.join("installed/share/oasis/sdk/go"));
        assert_eq!(Sdk::find(None, &program, Language::Go).unwrap(), packaged);
        assert_eq!(Sdk::find(Some(&folder.join("installed")), &program, Language::Go).unwrap(), packaged);
        made(&folder, "checkout/crates/probe/Cargo.toml");
        made(&folder, "checkout/sdk/README.md");
        let built = made(&folder, "checkout/target/release/oasis");
        let checkout = Sdk::Checkout(folder.join("checkout"));
        assert_eq!(Sdk::find(None, &built, Language::Go).unwrap(), checkout);
        assert_eq!(Sdk::find(Some(checkout.path()), &program, Language::Go).unwrap(), checkout);
        let wheel = made(&folder, "oasis_monitor-0.1.0.whl");
        assert_eq!(Sdk::find(Some(&wheel), &program, Language::Python).unwrap(), Sdk::Wheel(wheel));
        assert!(Sdk::find(Some(&folder), &program, Language::Go).is_err());
    }

    #[test]
    fn a_package_for_any_linux_has_a_wheel_for_each_c_library() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = |tag: &str| {
            let version = env!("CARGO_PKG_VERSION");
            made(folder.path(), &format!("oasis_monitor-{version}-cp310-abi3-{tag}_x86_64.whl"))
        };
        let glibc = wheel("manylinux_2_17");
        assert_eq!(wheel_in(folder.path(), true).as_ref(), Some(&glibc));
        let musl = wheel("musllinux_1_2");
        assert_eq!(wheel_in(folder.path(), true), Some(musl));
        assert_eq!(wheel_in(folder.path(), false), Some(glibc));
        assert_eq!(wheel_in(&folder.path().join("none"), false), None);
    }

    #[test]
    fn a_path_that_build_files_cannot_have_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        made(folder.path(), "a b/include/oasis.h");
        let error = Sdk::find(Some(&folder.path().join("a b")), Path::new("/x"), Language::C).unwrap_err();
        assert!(error.to_string().contains("spaces"), "{error}");
    }

    #[test]
    fn a_package_without_the_files_of_a_language_names_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        let program = made(&folder, "usr/bin/oasis");
        made(&folder, "usr/share/oasis/sdk/c/include/oasis.h");
        let wheel = concat!("usr/share/oasis/sdk/python/oasis_monitor-", env!("CARGO_PKG_VERSION"), "-x.whl");
        made(&folder, "usr/share/oasis/sdk/python/oasis_monitor-0.0.1-x.whl");
        let error = Sdk::find(None, &program, Language::Python).unwrap_err().to_string();
        assert!(error.contains("install the package of OASIS again"), "{error}");
        let wheel = made(&folder, wheel);
        assert_eq!(Sdk::find(None, &program, Language::Python).unwrap(), Sdk::Wheel(wheel));
        let c = Sdk::Packaged(folder.join("usr/share/oasis/sdk/c"));
        for language in [Language::C, Language::Cpp] {
            assert_eq!(Sdk::find(None, &program, language).unwrap(), c);
        }
        let error = Sdk::find(None, &program, Language::Java).unwrap_err().to_string();
        assert!(error.contains("no files of version"), "{error}");
    }
}
