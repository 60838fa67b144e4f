//! Models of hosts that cannot be.

use super::Resolver;
use crate::tree::at;
use crate::written::Scenario;

impl Resolver<'_> {
    pub(super) fn host_models(&mut self, words: &Scenario) {
        for (name, host) in &words.hosts {
            let receive = host.receive.as_ref().and_then(|receive| receive.problem());
            let cpu = host.cpu.as_ref().and_then(|cpu| cpu.problem());
            for (model, problem) in [("receive", receive), ("cpu", cpu)] {
                if let Some((key, message)) = problem {
                    self.report(at!["hosts", name, model, key], message);
                }
            }
        }
    }
}
