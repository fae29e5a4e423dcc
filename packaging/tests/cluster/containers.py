"""Containers with runc, each pod of them with a network of its own on one bridge: what a cluster or `docker compose` does
with an image, as far as one process can. Run it below `unshare --net --mount`: nothing outlives it."""

import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

SUBNET = "10.77.0"
# Kernel file systems as container runtimes mount them; /sys is read-only.
KERNEL_MOUNTS = [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=64k"]},
    {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
]
MASKED = ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug", "/sys/firmware"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


def run(*command: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], check=True, **options)


class Network:
    """A bridge in this process's network, which is the network of the host."""

    def __init__(self) -> None:
        run("mount", "-t", "tmpfs", "tmpfs", "/run")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "oasis0", "type", "bridge")
        run("ip", "address", "add", f"{SUBNET}.1/24", "dev", "oasis0")
        run("ip", "link", "set", "oasis0", "up")
        self.last = 1

    def join(self, name: str) -> str:
        """Makes a network for a pod, and returns its address."""
        self.last += 1
        address = f"{SUBNET}.{self.last}"
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"v{self.last}", "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", f"v{self.last}", "master", "oasis0", "up")
        for command in [["address", "add", f"{address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"], ["link", "set", "lo", "up"]]:
            run("ip", "-n", name, *command)
        return address


class Image:
    """An unpacked image. `program` covers its program, such as one without optimization; `seccomp` is the filter of system
    calls that runtimes have."""

    def __init__(self, rootfs: Path, program: Path | None, work: Path, seccomp: Path | None = None):
        self.seccomp = json.loads(seccomp.read_text()) if seccomp else None
        self.rootfs, self.work = rootfs, work
        self.mounts = [bind(program, "/usr/bin/oasis", read_only=True)] if program else []


def bind(source: Path, destination: str, read_only: bool) -> dict:
    how = ["rbind", "nosuid", "nodev", "ro" if read_only else "rw"]
    return {"destination": destination, "type": "bind", "source": str(source), "options": how}


class Container:
    """A container of the image: as its user, with a read-only root and without capabilities."""

    def __init__(self, image: Image, name: str, arguments: list[str], env: dict[str, str], mounts: list[dict], network: str | None,
                 host_pid: bool = False, groups: tuple[int, ...] = (), memory: int = 0):  # fmt: skip
        self.name, self.image, self.has_own_pids = name, image, not host_pid
        self.state = image.work / "runc"
        bundle = image.work / "bundles" / name
        shutil.rmtree(bundle, ignore_errors=True)
        bundle.mkdir(parents=True)
        namespaces = [{"type": "mount"}, {"type": "ipc"}, {"type": "uts"}]
        if not host_pid:
            namespaces.append({"type": "pid"})
        if network:
            namespaces.append({"type": "network", "path": f"/run/netns/{network}"})
        kernel = [dict(mount) for mount in KERNEL_MOUNTS]
        if not network or host_pid:
            # As runtimes do where the namespaces are the host's: a new file system is not permitted there.
            kernel[2] = {"destination": "/sys", "type": "bind", "source": "/sys", "options": ["rbind", "nosuid", "noexec", "nodev", "ro"]}
        user = {"uid": 10001, "gid": 10001, "additionalGids": list(groups)}
        env = {"PATH": "/usr/bin:/bin", **env}
        process = {"terminal": False, "user": user, "args": arguments, "env": [f"{key}={value}" for key, value in env.items()],
                   "cwd": "/", "capabilities": {}, "noNewPrivileges": True,
                   "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 20000, "soft": 20000}]}  # fmt: skip
        linux = {"namespaces": namespaces, "maskedPaths": MASKED, "readonlyPaths": READ_ONLY}
        if image.seccomp:
            linux["seccomp"] = image.seccomp
        if memory:
            linux["resources"] = {"memory": {"limit": memory}}
        spec = {"ociVersion": "1.0.2", "hostname": name, "root": {"path": str(image.rootfs), "readonly": True}, "process": process,
                "mounts": kernel + image.mounts + mounts, "linux": linux}  # fmt: skip
        if not network:
            spec["hostname"] = ""
            namespaces.remove({"type": "uts"})
        (bundle / "config.json").write_text(json.dumps(spec))
        self.log_file = bundle / "log"
        with self.log_file.open("wb") as log:
            command = ["runc", "--root", self.state, "run", "--bundle", bundle, name]
            self.process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def wait(self, seconds: float) -> int:
        return self.process.wait(seconds)

    def is_running(self) -> bool:
        return self.process.poll() is None

    def exec(self, *arguments: str, env: dict[str, str] | None = None, text: str = "") -> str:
        """Runs a command in it, as `kubectl exec` does."""
        flags = [flag for key, value in (env or {}).items() for flag in ("--env", f"{key}={value}")]
        done = subprocess.run(
            ["runc", "--root", str(self.state), "exec", *flags, self.name, *arguments], capture_output=True, text=True, input=text
        )
        assert done.returncode == 0, f"{arguments} in {self.name}: {done.stderr}"
        return done.stdout

    def check_confinement(self) -> None:
        """Fails unless the kernel says that the process has no capabilities, gains none, and is filtered."""
        status = dict(
            line.split(":\t", 1) for line in self.exec("cat", "/proc/1/status" if self.has_own_pids else "/proc/self/status").splitlines()
        )
        expected = {"Uid": "10001\t10001\t10001\t10001", "CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1"}
        if self.image.seccomp:
            expected["Seccomp"] = "2"
        wrong = {key: status.get(key) for key, value in expected.items() if status.get(key) != value}
        assert not wrong, f"{self.name}: {wrong}"

    def signal(self, name: str) -> None:
        subprocess.run(["runc", "--root", str(self.state), "kill", self.name, name], capture_output=True)

    def stop(self, grace: float) -> float:
        """Stops it as a kubelet does; fails if it is not gone within its time, or has another status than 0."""
        begin = time.monotonic()
        self.signal("TERM")
        try:
            status = self.wait(grace)
        except subprocess.TimeoutExpired:
            self.signal("KILL")
            raise AssertionError(f"{self.name} did not end within {grace} s of SIGTERM:\n{self.log()[-2000:]}") from None
        assert status == 0, f"{self.name} ended with status {status}:\n{self.log()[-2000:]}"
        return time.monotonic() - begin

    def kill(self) -> None:
        if self.is_running():
            self.signal("KILL")
            self.wait(10)


def wait_until(what: str, condition, seconds: float = 90, explain=lambda: ""):
    """Returns the first answer of the condition that counts."""
    end = time.monotonic() + seconds
    last = ""
    while time.monotonic() < end:
        try:
            if answer := condition():
                return answer
        except (OSError, AssertionError, KeyError, ValueError) as error:
            last = repr(error)
        time.sleep(0.1)
    sys.exit(f"not within {seconds} s: {what} {last}\n{explain()}")


class Client:
    """Requests to one server by its name, as a client that knows the CA sends them."""

    def __init__(self, address: str, host: str, ca: Path | None, token: str = "", port: int = 7070, scheme: str = "https"):
        self.host, self.token = host, token
        self.base = f"{scheme}://{address}:{port}"
        if ca:
            self.context = ssl.create_default_context(cafile=str(ca))
            # The address is asked, and the certificate must be for the name.
            self.context.check_hostname = False
            handler = NamedHandler(self.context, host)
        else:
            self.context = ssl._create_unverified_context()
            handler = urllib.request.HTTPSHandler(context=self.context)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), handler)

    def get(self, path: str, body: object = None) -> tuple[int, bytes]:
        headers = {"Host": self.host} if self.host else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(self.base + path, data=data, headers=headers)
        try:
            with self.opener.open(request, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def json(self, path: str) -> object:
        status, body = self.get(path)
        assert status == 200, f"{path}: {status} {body[:300]!r}"
        return json.loads(body)


class NamedHandler(urllib.request.HTTPSHandler):
    """Connects to an address, and asks for the certificate of a name."""

    def __init__(self, context: ssl.SSLContext, name: str):
        super().__init__(context=context)
        self.named = context
        self.name = name

    def https_open(self, request):
        import http.client

        name, context = self.name, self.named

        class Connection(http.client.HTTPSConnection):
            def connect(self):
                http.client.HTTPConnection.connect(self)
                verified = ssl.create_default_context()
                verified.load_verify_locations(
                    cadata="".join(ssl.DER_cert_to_PEM_cert(ca) for ca in context.get_ca_certs(binary_form=True))
                )
                self.sock = verified.wrap_socket(self.sock, server_hostname=name)

        return self.do_open(Connection, request)


def in_namespaces(script: str, arguments: list[str]) -> None:
    """Starts the script again in namespaces of its own, and ends with its status."""
    if os.environ.get("OASIS_TEST_NAMESPACES") != "yes":
        os.environ["OASIS_TEST_NAMESPACES"] = "yes"
        os.execvp("unshare", ["unshare", "--net", "--mount", "--propagation", "private", sys.executable, script, *arguments])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
