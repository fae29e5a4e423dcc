//! The page is part of the binary, so it has to be built first.

use std::path::Path;

fn main() {
    let page = Path::new("../../web/dist/index.html");
    println!("cargo:rerun-if-changed=../../web/dist");
    if !page.exists() {
        println!("cargo:error=the page is not built: run `make page` first (it fills web/dist)");
    }
}
