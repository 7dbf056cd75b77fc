//! The checker from outside: whole releases on disk, issued, verified and tampered with.

mod common;
mod formats;
mod models;
mod original;
mod tampering;
mod vectors;
