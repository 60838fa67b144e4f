//! Disks of hosts.

use super::resolver::Resolver;
use crate::tree::at;
use crate::written::Scenario;

impl Resolver<'_> {
    /// Spells out what follows from profiles and arrays.
    pub(super) fn disks(&mut self, words: &mut Scenario) {
        for (name, host) in &mut words.hosts {
            let Some(disk) = &mut host.disk else { continue };
            let at = at!["hosts", name, "disk"];
            match disk.problem() {
                Some(invalid) if invalid.parameter.is_empty() => self.report(at, invalid.reason),
                Some(invalid) => self.report(at.key(&invalid.parameter), invalid.reason),
                None => disk.resolve(),
            }
        }
    }
}
