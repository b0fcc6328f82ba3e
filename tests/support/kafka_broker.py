"""Runs a real Kafka broker, alone and in KRaft mode, on free ports of the loopback interface.

    with KafkaBroker(folder, tmp_path) as broker:    # folder: what scripts/setup.sh --kafka prints
        ...  # broker.address
        broker.kill()
        broker.start()                               # the same port, the same data
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
import uuid
import base64
from pathlib import Path

READY_SECONDS = 240
JAVA = ["java", "-Xmx384m", "-Xms128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"]


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class KafkaBroker:
    """A broker with its data under `place`. Everything that it started ends with it."""

    def __init__(self, folder: Path | str, place: Path | str):
        self.classpath = f"{folder}/*"
        self.place = Path(place)
        self.port, self.controller_port = free_ports(2)
        self.address = f"127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None
        self.settings = self.place / "server.properties"
        self.log = self.place / "broker.log"
        self.settings.write_text(
            "process.roles=broker,controller\nnode.id=1\n"
            f"controller.quorum.voters=1@127.0.0.1:{self.controller_port}\n"
            f"listeners=PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self.controller_port}\n"
            f"advertised.listeners=PLAINTEXT://127.0.0.1:{self.port}\n"
            "controller.listener.names=CONTROLLER\nlistener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n"
            f"log.dirs={self.place / 'data'}\n"
            "offsets.topic.replication.factor=1\noffsets.topic.num.partitions=1\n"
            "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\ntransaction.state.log.num.partitions=1\n"
            "group.initial.rebalance.delay.ms=0\ngroup.min.session.timeout.ms=1000\nauto.create.topics.enable=false\n"
            "num.network.threads=1\nnum.io.threads=2\nlog.cleaner.enable=false\n")
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self.run("kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "--config", str(self.settings))

    def run(self, tool: str, *arguments: str) -> str:
        """What one of Kafka's own tools says."""
        done = subprocess.run([*JAVA, "-cp", self.classpath, tool, *arguments], capture_output=True, text=True, timeout=READY_SECONDS)
        assert done.returncode == 0, f"{tool} {' '.join(arguments)}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    def start(self) -> None:
        """Starts it, and waits until it takes connections."""
        with open(self.log, "a") as log:
            begin = log.tell()
            self.process = subprocess.Popen([*JAVA, "-cp", self.classpath, "kafka.Kafka", str(self.settings)], cwd=self.place,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + READY_SECONDS
        while True:
            said = self.log.read_text(errors="replace")[begin:]
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the broker is not ready (status {self.process.returncode}):\n{said[-4000:]}")
            time.sleep(0.2)

    def stop(self, how: int = signal.SIGTERM) -> None:
        """Ends it in an orderly way, or at once."""
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def __enter__(self) -> "KafkaBroker":
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()
