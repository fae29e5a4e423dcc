//! Two DACs with the same rules that relay each other.

use super::Oasis;
use std::fs;
use tempfile::TempDir;

/// Two DACs with the same rules that relay each other, each with an archive.
pub struct RelayingDacs {
    folder: TempDir,
    /// Addresses of the page and the data channel of each.
    pub addresses: [(String, String); 2],
    dacs: [Option<Oasis>; 2],
}

impl RelayingDacs {
    /// Starts both with these rules.
    pub fn start_both(rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rules"), rules).unwrap();
        // The ports must be known before the processes.
        let free = || {
            let dac = Oasis::dac(&[]);
            (dac.listen().to_owned(), dac.channel().to_owned())
        };
        let mut site = Self { folder, addresses: [free(), free()], dacs: [None, None] };
        for number in 0..2 {
            let upstream = &site.addresses[1 - number].0;
            let config =
                format!("[relay]\nupstreams = [\"http://{upstream}\"]\n[rules]\nnode = \"rules-{number}\"\n");
            fs::write(site.path(&format!("{number}.toml")), config).unwrap();
            site.start(number);
        }
        site
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Starts one of them, at the address that it always has.
    pub fn start(&mut self, number: usize) {
        let (listen, channel) = &self.addresses[number];
        let paths = ["a.rules".into(), format!("{number}.toml"), format!("archive-{number}")];
        let [rules, config, archive] = paths.map(|name: String| self.path(&name));
        let arguments = ["--rules", &rules, "--config", &config, "--archive", &archive];
        self.dacs[number] = Some(Oasis::dac_at(listen, channel, &arguments));
    }

    /// One of them, which runs.
    pub fn dac(&self, number: usize) -> &Oasis {
        self.dacs[number].as_ref().expect("it runs")
    }

    /// Kills one of them.
    pub fn kill(&mut self, number: usize) {
        self.dacs[number].take().expect("it runs").kill();
    }
}
