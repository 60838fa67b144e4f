//! A binomial tree: in each step every rank that has the message sends it to one that has not.

use super::{Making, Operation};

pub(super) fn make(making: &mut Making) {
    let n = making.of.ranks;
    let bytes = making.part(0, 1, 1);
    let steps = n.next_power_of_two().ilog2();
    let mut had: Vec<Option<u32>> = vec![None; n as usize];
    if making.of.operation == Operation::AllReduce {
        // The same backwards: who would have received sends, when all below it has come.
        for step in (0..steps).rev() {
            for from in (1 << step..n).take(1 << step) {
                let to = from - (1 << step);
                let (_, recv) = making.message(bytes, step, (from, had[from as usize]), (to, had[to as usize]));
                had[to as usize] = Some(recv);
            }
        }
    }
    for step in 0..steps {
        for to in (1 << step..n).take(1 << step) {
            let from = to - (1 << step);
            let (send, recv) = making.message(bytes, steps + step, (from, had[from as usize]), (to, had[to as usize]));
            (had[from as usize], had[to as usize]) = (Some(send), Some(recv));
        }
    }
}
