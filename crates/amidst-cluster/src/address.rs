//! Where a scheduler is: `df://host:port`.

use std::str::FromStr;

/// The port of a scheduler that does not say.
pub const SCHEDULER_PORT: u16 = 50050;

/// The address of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Its name or number.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl Address {
    /// As the client of the engine wants it.
    pub fn http(&self) -> String {
        format!("http://{}:{}", self.host, self.port)
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "df://{}:{}", self.host, self.port)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no address of a scheduler; write df://host:port");
        let url = url::Url::parse(text).map_err(|_| wrong())?;
        let bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.username().is_empty();
        match url.host_str() {
            Some(host) if url.scheme() == "df" && bare && !host.is_empty() => {
                Ok(Address { host: host.to_string(), port: url.port().unwrap_or(SCHEDULER_PORT) })
            }
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_perhaps_a_port() {
        let address: Address = "df://head:7000".parse().unwrap();
        assert_eq!((address.host.as_str(), address.port), ("head", 7000));
        assert_eq!("df://127.0.0.1".parse::<Address>().unwrap().http(), "http://127.0.0.1:50050");
        for wrong in ["head:7000", "http://head:7000", "df://", "df://head/x", "df://user@head", "local"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
