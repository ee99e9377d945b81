//! CuTe layouts and their algebra.
