//! `tcp_info` as the Python of scripts sees it.

use crate::python::Scope;
use elephan_tcp::{CaState, Info, State};

const STATES: [(&str, State); 11] = [
    ("TCP_ESTABLISHED", State::Established),
    ("TCP_SYN_SENT", State::SynSent),
    ("TCP_SYN_RECV", State::SynReceived),
    ("TCP_FIN_WAIT1", State::FinWait1),
    ("TCP_FIN_WAIT2", State::FinWait2),
    ("TCP_TIME_WAIT", State::TimeWait),
    ("TCP_CLOSE", State::Closed),
    ("TCP_CLOSE_WAIT", State::CloseWait),
    ("TCP_LAST_ACK", State::LastAck),
    ("TCP_LISTEN", State::Listen),
    ("TCP_CLOSING", State::Closing),
];

const CA_STATES: [(&str, CaState); 5] = [
    ("TCP_CA_Open", CaState::Open),
    ("TCP_CA_Disorder", CaState::Disorder),
    ("TCP_CA_CWR", CaState::Cwr),
    ("TCP_CA_Recovery", CaState::Recovery),
    ("TCP_CA_Loss", CaState::Loss),
];

const OPTIONS: [(&str, i128); 6] = [
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
];

/// The constants that code knows, numbered as Linux has them.
pub fn scope() -> Scope {
    let mut scope = Scope::default();
    for (number, (name, _)) in (1..).zip(STATES) {
        scope.set(name, number);
    }
    for (number, (name, _)) in (0..).zip(CA_STATES) {
        scope.set(name, number);
    }
    for (name, bit) in OPTIONS {
        scope.set(name, bit);
    }
    scope
}

/// Sets `tcpi_*` to a snapshot.
pub fn set(scope: &mut Scope, info: &Info) {
    let state = (1..).zip(STATES).find(|(_, (_, state))| *state == info.state).map_or(0, |(number, _)| number);
    let ca_state = (0..).zip(CA_STATES).find(|(_, (_, state))| *state == info.ca_state).map_or(0, |(number, _)| number);
    scope.set("tcpi_state", state);
    scope.set("tcpi_ca_state", ca_state);
    for (name, value) in info.named() {
        scope.set(&format!("tcpi_{name}"), i128::from(value));
    }
}
