//! Millstream's build tool.
//!
//! - `cargo xtask build` compiles the engine to wasm and writes `pkg/`; with
//!   `--fault`, one that a test can stop, and `target/fault/pkg/`.
//! - `cargo xtask test-runner` runs tests that were compiled to wasm, in Node
//!   or, where `WASM_BINDGEN_USE_BROWSER` is set, in a headless browser. It is
//!   what `cargo test --target wasm32-unknown-unknown` calls.
//!
//! Both are wasm-bindgen's own commands, used as a library: the version that
//! matches the engine's is pinned in `Cargo.lock`, and nothing is installed.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use base64::prelude::{BASE64_STANDARD, Engine};
use wasm_bindgen_cli::{wasm_bindgen, wasm_bindgen_test_runner};

const WASM_TARGET: &str = "wasm32-unknown-unknown";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let text: Vec<_> = words.iter().filter_map(|word| word.to_str()).collect();
    match text[..] {
        ["build"] => build(&[], "pkg"),
        ["build", "--fault"] => build(&["--features=fault"], "target/fault/pkg"),
        // The command goes along: it stands where a program's own name would.
        ["test-runner", ..] => wasm_bindgen_test_runner::run_cli_with_args(words),
        _ => bail!("usage: cargo xtask build [--fault], or cargo xtask test-runner <file.wasm>"),
    }
}

/// Compiles an engine and writes its wasm and its JavaScript to a folder of their own.
fn build(features: &[&str], folder: &str) -> Result<()> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask has no workspace around it")?;
    let compiled = compile(workspace, features)?;

    let folder = workspace.join(folder);
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let flags = [
        "wasm-bindgen",
        "--target=web",
        // The runtimes say where the wasm is; bundlers would look for a default.
        "--omit-default-module-path",
        "--remove-name-section",
        "--remove-producers-section",
        // What makes a fresh instance, so that a stop of the engine is survived.
        "--experimental-reset-state-function",
        "--out-name=engine",
        "--out-dir",
    ];
    let paths = [folder.as_os_str(), compiled.as_os_str()].map(OsString::from);
    wasm_bindgen::run_cli_with_args(flags.map(OsString::from).into_iter().chain(paths))?;

    // Nothing in the glue refers to the name that wasm-bindgen gives the wasm.
    let wasm = folder.join("engine.wasm");
    fs::rename(folder.join("engine_bg.wasm"), &wasm)?;
    // These are the types of its bare exports, which nobody calls.
    fs::remove_file(folder.join("engine_bg.wasm.d.ts"))?;

    let text = BASE64_STANDARD.encode(fs::read(wasm)?);
    fs::write(
        folder.join("engine.base64.js"),
        format!("export default '{text}'\n"),
    )?;
    Ok(())
}

/// Compiles an engine and tells where its wasm is.
fn compile(workspace: &Path, features: &[&str]) -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["rustc", "--package=millstream", "--lib", "--release"])
        // Asked for here and not in the manifest: beside an rlib, cargo leaves out the LTO.
        .args(["--crate-type=cdylib", "--target", WASM_TARGET])
        .args(features)
        .current_dir(workspace)
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "cargo cannot compile the engine");

    // This program is target/<profile>/xtask, wherever the target folder was put.
    let program = env::current_exe()?;
    let target = program
        .ancestors()
        .nth(2)
        .context("xtask is in no target folder")?;
    Ok(target.join(WASM_TARGET).join("release/millstream.wasm"))
}
