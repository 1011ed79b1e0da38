//! model-server
