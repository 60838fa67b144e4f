//! The steps of Linux in recovery, and what they need.

use elephan_units::InvalidParameter;

use super::{LossDetection, Options, Overrides, RecoveryRule, RecoverySteps, Reduction};

const NEEDS: &str = "linux needs recovery = \"sack\", loss_detection = \"rack\" and reduction = \"prr-linux\"";

impl Options {
    /// Refuses the steps of Linux for who asks for them without what they need. Who chooses another recovery over a stack that has them does not
    /// ask.
    pub(crate) fn check_steps(&self, overrides: &Overrides) -> Result<(), InvalidParameter> {
        if overrides.recovery_steps != Some(RecoverySteps::Linux) || self.steps_as_linux() {
            return Ok(());
        }
        Err(InvalidParameter::new("recovery_steps", NEEDS))
    }

    /// Why steps that nobody gave are not those of the stack, if they are not.
    pub(crate) fn why_other_steps(&self, option: &str) -> Option<&'static str> {
        (option == "recovery_steps" && self.steps_taken() != self.recovery_steps).then_some(NEEDS)
    }

    /// The steps that recovery takes: those of Linux only with what they need.
    pub(crate) fn steps_taken(&self) -> RecoverySteps {
        if self.steps_as_linux() { RecoverySteps::Linux } else { RecoverySteps::Rfc }
    }

    /// Whether recovery takes the steps of Linux.
    pub(crate) fn steps_as_linux(&self) -> bool {
        self.recovery_steps == RecoverySteps::Linux
            && self.recovery == RecoveryRule::Sack
            && self.loss_detection == LossDetection::Rack
            && self.reduction == Reduction::PrrLinux
    }
}
