//! `oasis ca`: a small certificate authority for the servers and nodes of one site.

mod arguments;
mod trust;

pub use arguments::Arguments;

use anyhow::Context;
use arguments::{Days, Subject, Verb};
use oasis_tls::{Authority, Facts, Issued, Lifetime};

/// Creates an authority, issues certificates, or says how to trust it.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.ca_dir.as_path();
    match &arguments.verb {
        Verb::Init => {
            let authority = Authority::create(folder)?;
            println!("{} is in {}.", authority.name(), folder.display());
            println!("Keep ca.key: whoever has it can pretend to be any server or node of yours.");
            println!("Next: oasis ca issue server NAME…, then oasis ca trust");
            Ok(())
        }
        Verb::Issue { subject } => {
            let authority = Authority::open(folder).context("no usable CA (oasis ca init creates one)")?;
            match subject {
                Subject::Server { names, days } => {
                    let issued = authority.issue_server(names, lifetime(days))?;
                    show(&issued)?;
                    print_settings("tls", &issued);
                }
                Subject::Node { name, days } => {
                    let issued = authority.issue_node(name, Lifetime::of_node(days.days))?;
                    show(&issued)?;
                    print_settings("node", &issued);
                    println!("ca = \"{}\"", authority.certificate().display());
                }
            }
            Ok(())
        }
        Verb::Trust => {
            let authority = Authority::open(folder).context("no usable CA (oasis ca init creates one)")?;
            print!("{}", trust::instructions(&authority.name(), &authority.certificate()));
            Ok(())
        }
    }
}

fn lifetime(days: &Days) -> Lifetime {
    Lifetime::days(days.days)
}

fn show(issued: &Issued) -> anyhow::Result<()> {
    let facts = Facts::of_file(&issued.certificate)?;
    println!("{} is valid until {}.", facts.subject, facts.last_day);
    println!("  certificate  {}", issued.certificate.display());
    println!("  private key  {}", issued.key.display());
    Ok(())
}

/// The lines of the configuration file.
fn print_settings(section: &str, issued: &Issued) {
    println!("Settings (--config FILE):");
    println!("[{section}]");
    println!("certificate = \"{}\"", issued.certificate.display());
    println!("key = \"{}\"", issued.key.display());
}
