//! `cute`, a calculator for CuTe layouts.
//!
//! A command evaluates its statements in a [`Session`](session::Session), the set of defined names. Each
//! [`Answer`](answer::Answer) can be written as text or as JSON.

#![forbid(unsafe_code)]

mod answer;
mod args;
mod commands;
mod failure;
mod near;
mod session;
mod statement;
mod unfinished;

use args::Cli;
use clap::Parser;
use std::io::ErrorKind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse_from(std::env::args_os().map(args::expression));
    match commands::run(cli) {
        Ok(code) => code,
        // The reader closed the pipe, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("{}", failure::heading(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}
