//! All-to-all in steps: in step s each rank sends to the one s places on, and receives from the one s places before.

use super::Making;

pub(super) fn make(making: &mut Making) {
    let n = making.of.ranks;
    let mut had: Vec<Option<u32>> = vec![None; n as usize];
    for step in 1..n {
        let mut has = had.clone();
        for rank in 0..n {
            let to = (rank + step) % n;
            let bytes = making.part(u64::from(to), u64::from(to) + 1, u64::from(n));
            let (_, recv) = making.message(bytes, step, (rank, had[rank as usize]), (to, had[to as usize]));
            has[to as usize] = Some(recv);
        }
        had = has;
    }
}
