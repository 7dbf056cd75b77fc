//! Every registered privacy model, judged from outside: the papers' vectors, and properties that all models share.
#![cfg(test)]

mod multi_attribute;
mod properties;
mod vectors;
mod world;
