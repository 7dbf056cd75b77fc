//! The storage that a process of the cluster can reach: its file system, and S3 when built with the feature `s3`.
//!
//! Access to S3 is configured by the environment of each process alone (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
//! `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT`, …), so that no credential is in a plan, a setting or a log.

use std::sync::Arc;

use ballista_core::extension::{ballista_aggregate_functions, ballista_scalar_functions, ballista_window_functions};
use datafusion::error::Result;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;

/// A runtime environment; `spill` is the folder for what does not fit into memory.
pub fn environment(spill: Option<&str>) -> Result<Arc<RuntimeEnv>> {
    let builder = RuntimeEnvBuilder::new();
    let builder = match spill {
        Some(folder) => builder.with_temp_file_path(folder),
        None => builder,
    };
    #[cfg(feature = "s3")]
    let builder = builder.with_object_store_registry(Arc::new(s3::Stores::default()));
    builder.build_arc()
}

/// A session of the scheduler.
pub fn session(config: SessionConfig) -> Result<SessionState> {
    Ok(SessionStateBuilder::new()
        .with_runtime_env(environment(None)?)
        .with_config(config)
        .with_default_features()
        .with_scalar_functions(ballista_scalar_functions())
        .with_aggregate_functions(ballista_aggregate_functions())
        .with_window_functions(ballista_window_functions())
        .build())
}

#[cfg(feature = "s3")]
mod s3 {
    use std::sync::Arc;

    use datafusion::error::{DataFusionError, Result};
    use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
    use object_store::ObjectStore;
    use object_store::aws::AmazonS3Builder;
    use url::Url;

    /// Makes the store of a bucket when it is first asked for.
    #[derive(Debug, Default)]
    pub struct Stores {
        known: DefaultObjectStoreRegistry,
    }

    impl ObjectStoreRegistry for Stores {
        fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
            self.known.register_store(url, store)
        }

        fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
            if url.scheme() != "s3" {
                return self.known.get_store(url);
            }
            if let Ok(store) = self.known.get_store(url) {
                return Ok(store);
            }
            let bucket = url.host_str().unwrap_or_default();
            let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build().map_err(|_| {
                // The cause may quote a setting, and settings may be secret.
                DataFusionError::Configuration(format!("the environment does not say how to reach s3://{bucket}"))
            })?;
            let store: Arc<dyn ObjectStore> = Arc::new(store);
            self.known.register_store(url, Arc::clone(&store));
            Ok(store)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_bucket_is_made_once_and_other_schemes_are_left_alone() {
            let stores = Stores::default();
            let url = Url::parse("s3://patients/2024").unwrap();
            let first = stores.get_store(&url).unwrap();
            assert!(Arc::ptr_eq(&first, &stores.get_store(&url).unwrap()));
            assert!(stores.get_store(&Url::parse("file:///tmp").unwrap()).is_ok());
            assert!(stores.get_store(&Url::parse("ftp://x/y").unwrap()).is_err());
        }
    }
}
