"""A SLURM cluster of this machine alone: its daemons run from a temporary folder, with a configuration and a key of their own."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
PATIENCE_S = 60.0

CONFIGURATION = """ClusterName=elephan
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0,sched_min_interval=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
ReturnToService=2
MaxArraySize={array}
KillWait=5
MinJobAge=300
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=port
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=2000 Gres=port:4 State=UNKNOWN
PartitionName=urgent Nodes={host} Default=NO MaxTime=60 DefaultTime=10 PriorityTier=10 State=UP
PartitionName=short Nodes={host} Default=NO MaxTime=60 DefaultTime=10 State=UP
PartitionName=long Nodes={host} Default=YES MaxTime=INFINITE DefaultTime=10 State=UP
"""


def missing() -> str:
    """Why no cluster can be started here; nothing if one can."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    if absent:
        return f"{', '.join(absent)} not found (apt-get install slurmctld slurmd slurm-client munge)"
    return "" if os.geteuid() == 0 else "only root can start the daemons of SLURM"


def _path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class OneNode:
    """The cluster. `environment` is what commands need to talk to it."""

    def __init__(self, folder: Path, cpus: int = 4, array: int = 1001) -> None:
        self.folder = folder
        self.environment = {**os.environ, "PATH": _path(), "SLURM_CONF": str(folder / "slurm.conf")}
        self._processes: list[subprocess.Popen[bytes]] = []
        host = socket.gethostname().partition(".")[0]
        for name in ("state", "spool", "munge"):
            (folder / name).mkdir()
        text = CONFIGURATION.format(host=host, folder=folder, controller=_free_port(), node=_free_port(), cpus=cpus, array=array)
        (folder / "slurm.conf").write_text(text)
        (folder / "gres.conf").write_text(f"NodeName={host} Name=port Count=4\n")

    def start(self) -> None:
        """Starts the daemons; returns when the node takes jobs."""
        munge = self.folder / "munge"
        (munge / "key").write_bytes(secrets.token_bytes(128))
        (munge / "key").chmod(0o600)
        munge.chmod(0o755)
        user = pwd.getpwnam("munge") if "munge" in {one.pw_name for one in pwd.getpwall()} else pwd.getpwnam("nobody")
        for path in (munge, munge / "key"):
            os.chown(path, user.pw_uid, user.pw_gid)
        words = [f"--{name}={munge}/{file}" for name, file in FILES_OF_MUNGE.items()]
        self._started(["munged", "--foreground", "--force", *words], user=user.pw_uid, group=user.pw_gid, extra_groups=[])
        self.until(lambda: (munge / "socket").exists(), "munged does not answer")
        self._started(["slurmctld", "-D", "-c"])
        self._started(["slurmd", "-D", "-N", socket.gethostname().partition(".")[0]])
        self.until(lambda: "idle" in self.said("sinfo", "--noheader", "--format=%T", check=False), "the node is not idle")

    def _started(self, command: list[str], **named: object) -> None:
        log = (self.folder / f"{command[0]}.out").open("wb")
        with log:
            process = subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **named
            )
        self._processes.append(process)

    def stop(self) -> None:
        """Ends all jobs, then the daemons."""
        with contextlib.suppress(subprocess.SubprocessError, OSError):
            if self._runs():
                self.said("scancel", "--user=root", check=False)
                self.until(lambda: not self.said("squeue", "--noheader", check=False).strip(), "jobs do not end", 15)
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _runs(self) -> bool:
        """Whether all three daemons run."""
        return len(self._processes) == 3 and all(process.poll() is None for process in self._processes)

    def said(self, *command: str, check: bool = True) -> str:
        """What a command of SLURM prints."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 0 or not check, f"{command}: {done.stderr}"
        return done.stdout

    def ended(self, number: str) -> bool:
        """Whether a job is over, however it ended."""
        return self.job(number)["JobState"] not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")

    def end_controller(self) -> None:
        """Kills the daemon that takes jobs."""
        (process,) = (one for one in self._processes if one.args[0] == "slurmctld")
        process.kill()
        process.wait()

    def job(self, number: str) -> dict[str, str]:
        """What SLURM knows of a job: `JobState`, `Partition`, ..."""
        return dict(re.findall(r"(\S+?)=(\S*)", self.said("scontrol", "show", "job", number)))

    def until(self, ready: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
        """Waits until something is so; fails with the logs of the daemons."""
        deadline = time.monotonic() + patience_s
        while not ready():
            if time.monotonic() > deadline or any(process.poll() for process in self._processes):
                logs = "\n".join(f"{log}: {log.read_text(errors='replace')[-1500:]}" for log in sorted(self.folder.glob("*.log")))
                outs = "\n".join(f"{log}: {log.read_text(errors='replace')[-500:]}" for log in sorted(self.folder.glob("*.out")))
                raise AssertionError(f"{what}\n{logs}\n{outs}")
            time.sleep(0.1)


FILES_OF_MUNGE = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed", "log-file": "log"}


@contextlib.contextmanager
def started(**named: int) -> Iterator[OneNode]:
    """A cluster that runs within a `with`, in a folder that the user of munged can enter too."""
    with tempfile.TemporaryDirectory(prefix="elephan-slurm-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        found = OneNode(Path(folder), **named)
        try:
            found.start()
            yield found
        finally:
            found.stop()
