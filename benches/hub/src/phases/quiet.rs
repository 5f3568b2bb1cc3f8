//! An office that minds its own business: one call at a time, with pauses. What its calls wait for is not its own doing.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::office::{Caller, Samples, answer};
use crate::wire::{Buffer, NotSeated, Seat};

/// The pause between two calls: an Agent may make 500 requests a second.
const PAUSE: Duration = Duration::from_millis(5);

const RESULT_BYTES: usize = 200;

/// An Agent and a Computer that mind their own business.
pub struct QuietOffice {
    caller: Caller,
    _computer: JoinSet<()>,
}

impl QuietOffice {
    pub async fn open(address: SocketAddr, number: usize) -> Result<Self, NotSeated> {
        let computer = Seat::computer(number).take(address, Buffer::Large).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(answer(computer, RESULT_BYTES));
        let agent = Seat::agent(number).take(address, Buffer::Large).await?;
        Ok(Self { caller: Caller::new(agent, number, RESULT_BYTES), _computer: tasks })
    }

    /// Calls for so long.
    pub async fn call(&mut self, window: Duration) -> Samples {
        let end = Instant::now() + window;
        let mut all = Samples::default();
        while Instant::now() < end {
            let one = self.caller.call_until(Instant::now(), 1).await;
            all.times.extend(one.times);
            all.lost += one.lost;
            tokio::time::sleep(PAUSE).await;
        }
        all
    }
}

/// The calls of a quiet office on a thread of its own, which does not wait behind the tasks of the load.
pub fn beside(address: SocketAddr, number: usize, window: Duration) -> thread::JoinHandle<Result<Samples, NotSeated>> {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut office = QuietOffice::open(address, number).await?;
            Ok(office.call(window).await)
        })
    })
}
