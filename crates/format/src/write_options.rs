//! Options of writing samples, by format.

use crate::CsvDialect;

/// Options of writing samples. Each format ignores those of others.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// The dialect of comma-separated values.
    pub dialect: CsvDialect,
    /// The encoding of messages in MCAP.
    pub encoding: MessageEncoding,
}

/// The encoding of messages in MCAP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MessageEncoding {
    /// JSON with a JSON Schema.
    #[default]
    Json,
    /// CDR of ROS 2 with a schema in `ros2msg`.
    Cdr,
    /// Protocol Buffers with a `FileDescriptorSet`.
    Protobuf,
}

impl MessageEncoding {
    /// Its name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Cdr => "cdr",
            Self::Protobuf => "protobuf",
        }
    }
}
