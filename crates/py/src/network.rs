//! Sockets over a simulated network, for programs in Python.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use elephan_scenario::{Plan, Resolved, Source};
use elephan_sim::Progress;
use elephan_traffic::Spec as _;
use elephan_units::Time;
use elephan_virtual::{Errno, Fd, How, Kind, Setting};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Value;

use crate::errors::{guard, guard_long, run_error, scenario_errors};
use crate::guest::Loader;
use crate::outcome::{Finished, RunResult, recorder};
use crate::scenario::{self, Overrides};
use crate::watcher::{Cancel, Watcher};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Network>()
}

/// The network of a scenario, with sockets for programs on its hosts: as Linux has them, without blocking.
///
/// A host is its place in `hosts()`. Errors are `OSError` with the number that Linux gives.
#[pyclass(module = "elephan._core", frozen)]
pub struct Network {
    source: Source,
    held: Mutex<Option<Held>>,
}

struct Held {
    network: elephan_virtual::Network,
    resolved: Resolved,
    watcher: Watcher,
    spent: Duration,
}

/// An `OSError` as Linux would raise it.
fn os_error(errno: Errno) -> PyErr {
    PyOSError::new_err((errno.number(), errno.text()))
}

impl Network {
    /// The network of a scenario that has been read.
    fn open(source: Source, resolved: Resolved, folder: Option<&Path>, mut watcher: Watcher) -> PyResult<Network> {
        let network = elephan_virtual::Network::new(resolved.plan.clone(), recorder(folder)?);
        let network = network.map_err(|error| watcher.error(&source, error))?;
        let held = Held { network, resolved, watcher, spent: Duration::ZERO };
        Ok(Network { source, held: Mutex::new(Some(held)) })
    }

    /// Calls what the network has to do; an error is that of the socket interface.
    fn call<T>(&self, call: impl FnOnce(&mut elephan_virtual::Network) -> Result<T, Errno>) -> PyResult<T> {
        let mut held = self.lock();
        let held = open(&mut held)?;
        guard(|| call(&mut held.network).map_err(os_error))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open<'a>(held: &'a mut MutexGuard<'_, Option<Held>>) -> PyResult<&'a mut Held> {
    held.as_mut().ok_or_else(|| run_error("the network has been closed"))
}

/// The program of a host or of a group of hosts: its name, the function, and what each function of an executor takes, seconds.
type Hosted = (String, Py<PyAny>, f64);

/// The programs that a scenario names.
pub fn programs(plan: &Plan, loader: &Loader) -> PyResult<Vec<Hosted>> {
    let own = plan.traffic.iter().filter_map(|traffic| traffic.kind.programs());
    let each = own.flat_map(|own| own.programs.iter().map(move |(host, program)| (own, host, program)));
    each.map(|(own, host, program)| {
        Ok((host.clone(), loader.coroutine(&program.python, &program.params)?, own.executor_time.seconds()))
    })
    .collect()
}

/// Runs the programs that a scenario names over its network.
pub fn play(
    py: Python<'_>,
    source: Source,
    resolved: Resolved,
    folder: Option<&Path>,
    watcher: Watcher,
    programs: Vec<Hosted>,
) -> PyResult<RunResult> {
    let seed = resolved.plan.seed;
    let network = Bound::new(py, py.detach(|| guard(|| Network::open(source, resolved, folder, watcher)))?)?;
    let returned: String =
        py.import("elephan.virtual.hosted")?.call_method1("play_scenario", (&network, programs, seed))?.extract()?;
    network.get().finish(py, &returned)
}

#[pymethods]
impl Network {
    #[new]
    #[pyo3(signature = (text, name, format, overrides=Overrides::none(), seed=None, folder=None, progress=None, cancel=None, agreed=None))]
    #[expect(clippy::too_many_arguments, reason = "the Python function names each")]
    fn new(
        py: Python<'_>,
        text: String,
        name: String,
        format: &str,
        overrides: Overrides,
        seed: Option<u64>,
        folder: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
        cancel: Option<&Bound<'_, Cancel>>,
        agreed: Option<Py<PyAny>>,
    ) -> PyResult<Network> {
        let source = scenario::source(text, name, format, agreed)?;
        let watcher = Watcher::new(cancel.map(|cancel| cancel.get().flag()), progress);
        let flag = watcher.flag.clone();
        let make = || {
            let overrides = overrides.to_overrides().map_err(scenario_errors)?;
            let resolved = elephan_scenario::read(&source, &overrides, seed).map_err(scenario_errors)?;
            Network::open(source, resolved, folder.as_deref(), watcher)
        };
        py.detach(|| guard_long(flag, make))
    }

    /// Simulated time, picoseconds.
    #[getter]
    fn now(&self) -> PyResult<u64> {
        self.call(|network| Ok(network.now().ps()))
    }

    /// When the scenario ends, picoseconds: time does not go further.
    #[getter]
    fn end(&self) -> PyResult<u64> {
        self.call(|network| Ok(network.end().ps()))
    }

    /// Name, IPv4 and IPv6 address of each host.
    fn hosts(&self) -> PyResult<Vec<(String, String, String)>> {
        self.call(|network| {
            let one = |host: &elephan_virtual::Host| (host.name.clone(), host.ipv4.to_string(), host.ipv6.to_string());
            Ok(network.hosts().iter().map(one).collect())
        })
    }

    /// A new socket of a host: `kind` 1 is a stream, 2 datagrams.
    fn socket(&self, host: usize, kind: i32) -> PyResult<Fd> {
        let kind = match kind {
            1 => Kind::Stream,
            2 => Kind::Datagram,
            _ => return Err(os_error(Errno::NotSupported)),
        };
        self.call(|network| network.socket(host, kind))
    }

    fn bind(&self, fd: Fd, port: u16) -> PyResult<()> {
        self.call(|network| network.bind(fd, port))
    }

    fn listen(&self, fd: Fd, backlog: usize) -> PyResult<()> {
        self.call(|network| network.listen(fd, backlog))
    }

    fn accept(&self, fd: Fd) -> PyResult<(Fd, usize, u16)> {
        self.call(|network| network.accept(fd))
    }

    fn connect(&self, fd: Fd, host: usize, port: u16) -> PyResult<()> {
        self.call(|network| network.connect(fd, host, port))
    }

    /// `SO_ERROR`, which is forgotten then; 0 for none.
    fn error(&self, fd: Fd) -> PyResult<i32> {
        self.call(|network| Ok(network.error(fd)?.map_or(0, Errno::number)))
    }

    fn send(&self, fd: Fd, data: &[u8]) -> PyResult<usize> {
        self.call(|network| network.send(fd, data))
    }

    #[pyo3(signature = (fd, most, peek=false))]
    fn recv<'py>(&self, py: Python<'py>, fd: Fd, most: usize, peek: bool) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.call(|network| network.recv(fd, most, peek))?))
    }

    fn send_to(&self, fd: Fd, data: &[u8], host: usize, port: u16) -> PyResult<usize> {
        self.call(|network| network.send_to(fd, data, host, port))
    }

    fn recv_from<'py>(&self, py: Python<'py>, fd: Fd, most: usize) -> PyResult<(Bound<'py, PyBytes>, usize, u16)> {
        let (bytes, host, port) = self.call(|network| network.recv_from(fd, most))?;
        Ok((PyBytes::new(py, &bytes), host, port))
    }

    /// Ends reading (0), writing (1) or both (2).
    fn shutdown(&self, fd: Fd, how: i32) -> PyResult<()> {
        let how = match how {
            0 => How::Read,
            1 => How::Write,
            2 => How::Both,
            _ => return Err(os_error(Errno::Invalid)),
        };
        self.call(|network| network.shutdown(fd, how))
    }

    fn close(&self, fd: Fd) -> PyResult<()> {
        self.call(|network| network.close(fd))
    }

    /// Host and port of a socket; port 0 before it has one.
    fn name(&self, fd: Fd) -> PyResult<(usize, u16)> {
        self.call(|network| network.name(fd))
    }

    /// Host and port that a socket is connected to.
    fn peer(&self, fd: Fd) -> PyResult<(usize, u16)> {
        self.call(|network| network.peer(fd))
    }

    /// What is ready: 1 readable, 2 writable.
    fn poll(&self, fd: Fd) -> PyResult<u8> {
        self.call(|network| Ok(network.poll(fd)))
    }

    /// For what of a descriptor somebody waits: 1 readable, 2 writable, 0 nothing.
    fn watch(&self, fd: Fd, mask: u8) -> PyResult<()> {
        self.call(|network| {
            network.watch(fd, mask);
            Ok(())
        })
    }

    /// What is ready of what is watched, as (descriptor, bits). If nothing is, time passes until something is, at most to `until`
    /// picoseconds and to the end of the scenario.
    fn wait(&self, py: Python<'_>, until: u64) -> PyResult<Vec<(Fd, u8)>> {
        py.detach(|| {
            let mut held = self.lock();
            let Held { network, resolved, watcher, spent } = open(&mut held)?;
            let begin = Instant::now();
            let plan = &resolved.plan;
            let ready = guard(|| {
                let watch = &mut |progress: &Progress<'_>| watcher.look(progress, plan);
                network.wait(Time(until), watch).map_err(|error| watcher.error(&self.source, error))
            });
            *spent += begin.elapsed();
            ready
        })
    }

    /// Whether only a program can make something happen: nothing is under way, no timer of a connection is armed.
    fn is_idle(&self) -> PyResult<bool> {
        self.call(|network| Ok(network.is_idle()))
    }

    /// Fields of `TCP_INFO` of a stream, and `congestion_control`; none of one that is gone.
    fn info<'py>(&self, py: Python<'py>, fd: Fd) -> PyResult<Option<Bound<'py, PyDict>>> {
        let info = self.call(|network| {
            let info = network.info(fd)?;
            Ok(info.map(|(info, name)| (info.named().collect::<Vec<_>>(), name.to_owned())))
        })?;
        let Some((fields, name)) = info else { return Ok(None) };
        let dict = PyDict::new(py);
        for (field, value) in fields {
            dict.set_item(field, value)?;
        }
        dict.set_item("congestion_control", name)?;
        Ok(Some(dict))
    }

    /// Sets an option of a stream: `nodelay`, `cork`, `send_buffer`, `receive_buffer` (bytes), `user_timeout` (ms), `aborts`.
    fn set_number(&self, fd: Fd, option: &str, value: u64) -> PyResult<()> {
        let setting = match option {
            "nodelay" => Setting::NoDelay(value != 0),
            "cork" => Setting::Cork(value != 0),
            "send_buffer" => Setting::SendBuffer(value),
            "receive_buffer" => Setting::ReceiveBuffer(value),
            "user_timeout" => Setting::UserTimeout(value),
            "aborts" => Setting::Aborts(value != 0),
            _ => return Err(PyValueError::new_err(format!("no option is called {option}"))),
        };
        self.call(|network| network.set(fd, setting))
    }

    /// Gives a stream another congestion control, by name.
    fn set_congestion_control(&self, fd: Fd, name: &str) -> PyResult<()> {
        let spec = elephan_cc::Spec::all().into_iter().find(|spec| spec.name() == name);
        let spec = spec.ok_or_else(|| PyOSError::new_err((libc::ENOENT, "No such file or directory")))?;
        self.call(|network| network.set(fd, Setting::CongestionControl(Box::new(spec))))
    }

    /// Closes the books; nothing can be called afterwards. `returned`: what the programs returned, by host, as JSON.
    #[pyo3(signature = (returned="{}"))]
    fn finish(&self, py: Python<'_>, returned: &str) -> PyResult<RunResult> {
        let returned: Value = serde_json::from_str(returned).map_err(run_error)?;
        let held = self.lock().take().ok_or_else(|| run_error("the network has been closed"))?;
        let Held { network, resolved, mut watcher, spent } = held;
        let finished = py.detach(|| {
            guard(|| {
                let (mut summary, recorder) = network.finish().map_err(|error| watcher.error(&self.source, error))?;
                summary["returned"] = returned;
                Ok(Finished { resolved, summary, recorder, shared: Time::ZERO, wall: spent })
            })
        })?;
        finished.result(py)
    }
}
