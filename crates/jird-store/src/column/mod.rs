//! Small columns beside the documents.
