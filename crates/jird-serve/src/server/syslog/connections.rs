//! How many connections of syslog there may be, in all and from one address.
//!
//! They live for days and may be silent for hours, so none is closed for being idle. When there are too many, it is the new ones
//! that are closed: their clients notice, and try again. One address has at most a quarter of all places.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The part of all places that one address may have.
const SHARE: usize = 4;

/// The places that there are.
pub(super) struct Connections {
    places: Arc<Semaphore>,
    places_max: usize,
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// The place of a connection, until it is dropped.
pub(super) struct Place {
    connections: Arc<Connections>,
    address: IpAddr,
    _permit: OwnedSemaphorePermit,
}

impl Connections {
    pub(super) fn new(places_max: usize) -> Arc<Self> {
        Arc::new(Self { places: Arc::new(Semaphore::new(places_max)), places_max, taken: Mutex::default() })
    }

    /// A place for a client, if there is one.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let permit = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let address = one_of(address);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(address).or_insert(0);
        if *count >= self.places_max.div_ceil(SHARE) {
            return None;
        }
        *count += 1;
        Some(Place { connections: Arc::clone(self), address, _permit: permit })
    }

    /// Waits until no place is taken.
    pub(super) async fn all_gone(&self) {
        let all = u32::try_from(self.places_max).unwrap_or(u32::MAX);
        let _ = self.places.acquire_many(all).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.connections.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

/// What counts as one address: of IPv6, all those of a network with 64 bits, which a single machine may have.
fn one_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_has_a_quarter_of_the_places_and_all_have_no_more_than_there_are() {
        let connections = Connections::new(8);
        let admit = |address: &str| connections.admit(address.parse().unwrap());
        let mut places: Vec<_> = ["10.0.0.1", "::ffff:10.0.0.1"].map(|address| admit(address).unwrap()).into();
        assert!(admit("10.0.0.1").is_none());
        places.extend(["2001:db8::1", "2001:db8::2"].map(|address| admit(address).unwrap()));
        assert!(admit("2001:db8::3").is_none());
        places.extend(["2001:db8:0:1::", "10.0.0.2", "10.0.0.3", "10.0.0.4"].map(|address| admit(address).unwrap()));
        assert!(admit("10.0.0.5").is_none());
        places.remove(0);
        places.push(admit("10.0.0.1").unwrap());
        assert!(admit("10.0.0.1").is_none());
        places.clear();
        assert!(connections.taken.lock().unwrap().is_empty());
    }
}
