//! Runs PTX modules on the CPU.
