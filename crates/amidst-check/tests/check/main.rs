//! The checker from outside: whole releases on disk, issued, verified and tampered with.

// `cfg(test)` is always true here; it tells clippy that helpers are tests too, and may unwrap.
#[cfg(test)]
mod common;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod models;
#[cfg(test)]
mod original;
#[cfg(test)]
mod readings;
#[cfg(test)]
mod sets;
#[cfg(test)]
mod tampering;
#[cfg(test)]
mod unique;
#[cfg(test)]
mod vectors;
