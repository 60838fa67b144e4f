//! The steps of Linux in recovery, and what they need.

use elephan_units::InvalidParameter;

use super::{LossDetection, Options, Overrides, RecoveryRule, RecoverySteps, Reduction};

impl Options {
    /// Refuses the steps of Linux for who asks for them without what they need. Who chooses another recovery over a stack that has them does not
    /// ask.
    pub(crate) fn check_steps(&self, overrides: &Overrides) -> Result<(), InvalidParameter> {
        if overrides.recovery_steps != Some(RecoverySteps::Linux) || self.steps_as_linux() {
            return Ok(());
        }
        let needs = "linux needs recovery = \"sack\", loss_detection = \"rack\" and reduction = \"prr-linux\"";
        Err(InvalidParameter::new("recovery_steps", needs))
    }

    /// Whether recovery takes the steps of Linux.
    pub(crate) fn steps_as_linux(&self) -> bool {
        self.recovery_steps == RecoverySteps::Linux
            && self.recovery == RecoveryRule::Sack
            && self.loss_detection == LossDetection::Rack
            && self.reduction == Reduction::PrrLinux
    }
}
