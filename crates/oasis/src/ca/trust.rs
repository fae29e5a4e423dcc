//! Instructions to trust an authority.

use std::path::Path;

/// The instructions, for a reader in a terminal.
pub fn instructions(name: &str, certificate: &Path) -> String {
    let file = certificate.display();
    format!(
        "The certificate of {name} is {file}. It is no secret; copy it to each machine.

OASIS, curl and Python:
  oasis tail --url https://HOST:7070 --ca {file}
  curl --cacert {file} https://HOST:7070/readyz
  export OASIS_CA={file}          # nodes and commands

Debian, Ubuntu:
  sudo cp {file} /usr/local/share/ca-certificates/oasis-ca.crt && sudo update-ca-certificates
Fedora, RHEL:
  sudo cp {file} /etc/pki/ca-trust/source/anchors/oasis-ca.pem && sudo update-ca-trust
macOS:
  sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain {file}
Windows, as administrator:
  certutil -addstore Root ca.pem

Chrome and Chromium on Linux:
  certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n '{name}' -i {file}
  (Debian package libnss3-tools; or Settings, Privacy and security, Security, Manage certificates)
Firefox:
  Settings, Privacy & Security, View Certificates, Authorities, Import

Whoever has ca.key can pretend to be any site to a browser that trusts this CA. Keep it off the DAC's machine if you can.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_names_the_file_or_the_menu() {
        let text = instructions("OASIS CA 12345678", Path::new("/etc/oasis/ca.pem"));
        for words in ["--ca /etc/oasis/ca.pem", "update-ca-certificates", "Firefox", "OASIS CA 12345678"] {
            assert!(text.contains(words), "{words}");
        }
    }
}
