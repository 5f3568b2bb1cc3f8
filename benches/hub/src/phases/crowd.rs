//! Many members at once that do nothing but stay.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::wire::{Buffer, Link, NotSeated, Seat};

/// How many members connect at the same time.
const AT_ONCE: usize = 64;

/// Members that are there. They leave when this is dropped.
pub struct Crowd {
    members: JoinSet<()>,
    pings: Vec<Arc<AtomicU32>>,
    gone: Arc<AtomicUsize>,
}

impl Crowd {
    /// Seats everybody and keeps the members alive.
    pub async fn seated(address: SocketAddr, seats: Vec<Seat>) -> Result<Self, NotSeated> {
        let mut crowd = Self { members: JoinSet::new(), pings: Vec::new(), gone: Arc::default() };
        seat_all(address, seats, Buffer::Small, |_, mut link| {
            crowd.pings.push(link.pings.clone());
            let gone = crowd.gone.clone();
            crowd.members.spawn(async move {
                while link.next().await.is_ok() {}
                gone.fetch_add(1, Ordering::Relaxed);
            });
        })
        .await?;
        Ok(crowd)
    }

    /// How many have been sent away.
    pub fn gone(&self) -> usize {
        self.gone.load(Ordering::Relaxed)
    }

    /// Pings that every member has seen, and pings of all members together.
    pub fn pings(&self) -> (u32, u64) {
        let seen = || self.pings.iter().map(|pings| pings.load(Ordering::Relaxed));
        (seen().min().unwrap_or(0), seen().map(u64::from).sum())
    }
}

/// Takes all seats, some at a time; `arrived` gets the number of each seat and its link at once, to keep it alive.
pub async fn seat_all(
    address: SocketAddr,
    seats: Vec<Seat>,
    buffer: Buffer,
    mut arrived: impl FnMut(usize, Link),
) -> Result<(), NotSeated> {
    let (next, seats) = (Arc::new(AtomicUsize::new(0)), Arc::new(seats));
    let (seated, mut arrivals) = mpsc::channel(AT_ONCE);
    for _ in 0..AT_ONCE.min(seats.len()) {
        let (next, seats, seated) = (next.clone(), seats.clone(), seated.clone());
        tokio::spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(seat) = seats.get(number) else { return };
                let link = seat.take(address, buffer).await.map(|link| (number, link));
                if seated.send(link).await.is_err() {
                    return;
                }
            }
        });
    }
    drop(seated);
    while let Some(seated) = arrivals.recv().await {
        let (number, link) = seated?;
        arrived(number, link);
    }
    Ok(())
}

/// Offices of a Computer and an Agent, as many as it takes for so many members.
pub fn pairs(members: std::ops::Range<usize>) -> Vec<Seat> {
    members.map(|n| if n % 2 == 0 { Seat::computer(n / 2) } else { Seat::agent(n / 2) }).collect()
}
