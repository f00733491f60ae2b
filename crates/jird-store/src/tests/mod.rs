//! Tests of the whole store on simulated disks, against a list of events as the model.

mod backup;
mod days;
mod delete;
mod full;
mod hostile;
mod model;
mod random;
mod resume;
mod trouble;
