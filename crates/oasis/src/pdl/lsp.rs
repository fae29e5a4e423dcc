//! `oasis pdl lsp`

use anyhow::Context;
use std::{io, process::ExitCode};

/// Serves one editor. Fails if the editor exits without `shutdown`.
pub fn run() -> anyhow::Result<ExitCode> {
    let is_agreed = oasis_lsp::serve(oasis_lsp::Pdl::default(), io::stdin(), io::stdout())
        .context("cannot talk to the editor")?;
    Ok(if is_agreed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
