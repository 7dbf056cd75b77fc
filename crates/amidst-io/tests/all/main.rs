//! Tests through the public interface, in one program so that the formats are linked once.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod conventions;
#[cfg(test)]
mod csv;
#[cfg(test)]
mod foreign;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod mutants;
#[cfg(test)]
#[cfg(all(unix, feature = "postgres"))]
#[cfg(test)]
mod postgres;
#[cfg(test)]
mod readings;
#[cfg(test)]
mod sqlite;
