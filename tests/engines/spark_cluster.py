"""Tally on a standalone Spark cluster of two workers, one of which is killed in the middle of a job.

Usage: python spark_cluster.py FOLDER OUT. Starts master and workers on loopback from the pip package, reads the Parquet
files of the folder, and saves the tally. Whatever happens, what it has started ends with it.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

COLUMNS = {"truth": "y", "probabilities": "p_"}
#: Seconds after which a job hangs: a machine with much else to do takes minutes for what takes one by itself.
MOST = 1500


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(home: Path, folder: Path, *arguments: str) -> subprocess.Popen:
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder),
        "PYSPARK_PYTHON": sys.executable,
    }
    folder.mkdir(exist_ok=True)
    with (folder / "log.txt").open("w") as log:
        return subprocess.Popen(
            [home / "bin" / "spark-class", *arguments], env=environment, stdout=log, stderr=log, start_new_session=True
        )


def ended(process: subprocess.Popen) -> None:
    """Kill a process and the executors it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def kill_in_the_middle(session, worker, done: threading.Event, killed: threading.Event) -> None:
    """Wait until a stage is partly done, then kill the worker."""
    tracker = session.sparkContext.statusTracker()
    while not done.is_set():
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None and info.numTasks > 20 and 2 <= info.numCompletedTasks < info.numTasks - 5:
                ended(worker)
                killed.set()
                return
        time.sleep(0.005)


def wait_for(what: str, reached, folder: Path) -> None:
    """Wait for a part of the cluster; where it does not come within two minutes, show what the processes said."""
    deadline = time.monotonic() + 120
    while not reached():
        if time.monotonic() > deadline:
            logs = [f"{log.parent.name}:\n{log.read_text()[-1500:]}" for log in sorted(folder.glob("*/log.txt"))]
            raise TimeoutError("\n".join([f"{what} did not start", *logs]))
        time.sleep(0.1)


def hang(number: int, frame: object) -> None:
    """What the alarm calls: an error in the main thread, so that the cluster is ended on the way out."""
    raise TimeoutError(f"the cluster was not done after {MOST:,} s")


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main(data: Path, out: Path) -> None:
    import pyspark
    from pyspark.sql import SparkSession

    import surefoot as sf

    home, port = Path(pyspark.__file__).parent, free_port()
    address = f"spark://127.0.0.1:{port}"
    master = ("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    worker = ("org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g")
    worker += ("--webui-port", "0", address)
    processes = [started(home, out.parent / "master", *master)]
    try:
        wait_for("the master", lambda: is_listening(port), out.parent)
        processes += [started(home, out.parent / f"worker{i}", *worker) for i in range(2)]
        session = (
            SparkSession.builder.master(address)
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.executor.memory", "512m")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.sql.files.maxPartitionBytes", "65536")
            .config("spark.sql.files.openCostInBytes", "65536")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        executors = session._jsc.sc().statusTracker().getExecutorInfos
        wait_for("an executor", lambda: len(executors()) == 3, out.parent)
        done, killed = threading.Event(), threading.Event()
        killer = threading.Thread(target=kill_in_the_middle, args=(session, processes[1], done, killed))
        killer.start()
        frame = session.read.parquet(str(data))
        tally = sf.tally(sf.Predictions.from_frame(frame, **COLUMNS), by="group")
        done.set()
        killer.join()
        tally.save(out)
        print("killed a worker" if killed.is_set() else "nothing was killed")
    finally:
        for process in reversed(processes):
            ended(process)


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, hang)
    signal.alarm(MOST)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
