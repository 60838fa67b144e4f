//! A ring: in each step every rank sends a piece to the next one and receives one from the rank before, which it sends on.

use super::{Making, Operation};

pub(super) fn make(making: &mut Making) {
    let n = making.of.ranks;
    let (scatters, gathers) = match making.of.operation {
        Operation::AllReduce => (n - 1, n - 1),
        Operation::ReduceScatter => (n - 1, 0),
        _ => (0, n - 1),
    };
    let chunks = u64::from(making.of.chunks);
    for chunk in 0..chunks {
        let mut had: Vec<Option<u32>> = vec![None; n as usize];
        for step in 0..scatters + gathers {
            // Rank r begins with piece r; after n - 1 steps it has all of piece r + 1, with which it goes on.
            let mut has = had.clone();
            for rank in 0..n {
                let (piece, next) = ((rank + 2 * n - step % n) % n, (rank + 1) % n);
                let (first, shares) = (u64::from(piece) * chunks + chunk, u64::from(n) * chunks);
                let bytes = making.part(first, first + 1, shares);
                let (_, recv) =
                    making.message(bytes, chunk as u32, (rank, had[rank as usize]), (next, had[next as usize]));
                has[next as usize] = Some(recv);
            }
            had = has;
        }
    }
}
