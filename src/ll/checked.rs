//! Errors of memory accesses.

/// What is wrong with an access.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MemoryError {
    /// Null was dereferenced.
    #[error("{width} at null{offset:+}")]
    Null {
        /// The access.
        width: super::Width,
        /// Bytes from null.
        offset: i64,
    },
}
