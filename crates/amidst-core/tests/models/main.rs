//! Every registered privacy model, judged from outside: the papers' vectors, and properties that all models share.
#![cfg(test)]

#[cfg(test)]
mod multi_attribute;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod world;
