#!/usr/bin/env python3
"""Runs packaging/compose.yaml without a daemon: starts each container as its service says, and follows samples from the node
to DAC and relay. All stop, and start again on the same volumes."""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

from containers import Client, Container, Image, Network, bind, in_namespaces, wait_until

COMMAND_TIMEOUT = 60


class Forward(threading.Thread):
    """A published port: a connection to it goes on to a container."""

    def __init__(self, host: str, port: int, target: tuple[str, int]):
        super().__init__(daemon=True)
        self.listener = socket.create_server((host, port))
        self.target = target
        self.start()

    def run(self) -> None:
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(self.target)
            except OSError:
                client.close()
                continue
            for one, other in [(client, server), (server, client)]:
                threading.Thread(target=self.copy, args=(one, other), daemon=True).start()

    @staticmethod
    def copy(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Project:
    def __init__(self, services: dict, image: Image):
        self.services, self.image, self.work = services, image, image.work
        self.network = Network()
        self.addresses = {name: self.network.join(name) for name, service in services.items() if "network_mode" not in service}
        for name, service in services.items():
            for port in service.get("ports", []):
                assert port["host_ip"] == "127.0.0.1", f"{name} is open to other hosts"
                Forward(port["host_ip"], int(port["published"]), (self.addresses[name], port["target"]))
        self.running: dict[str, Container] = {}

    def _volume(self, volume: dict) -> dict:
        path = self.work / "volumes" / volume["source"]
        if not path.exists():
            path.mkdir(parents=True)
            # A new volume is as the folder of the image that it covers.
            inside = self.image.rootfs / volume["target"].lstrip("/")
            if inside.exists():
                os.chown(path, inside.stat().st_uid, inside.stat().st_gid)
                path.chmod(inside.stat().st_mode & 0o7777)
        return bind(path, volume["target"], read_only=volume.get("read_only", False))

    def _container(self, name: str) -> Container:
        service = self.services[name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and "no-new-privileges:true" in service["security_opt"], name
        hosts = self.work / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in self.addresses.items()))
        mounts = [bind(hosts, "/etc/hosts", read_only=True), *(self._volume(volume) for volume in service["volumes"])]
        mounts += [{"destination": path, "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]} for path in service["tmpfs"]]
        # The entrypoint is that of the image, unless the service has one.
        arguments = (service.get("entrypoint") or ["/usr/bin/oasis-entrypoint"]) + (service.get("command") or [])
        env = {"OASIS_DIRECTORY": "/var/lib/oasis", "OASIS_NAMES": "localhost", **(service.get("environment") or {})}
        container = Container(self.image, name, arguments, env, mounts, name if name in self.addresses else None)
        self.running[name] = container
        return container

    def is_healthy(self, name: str) -> bool:
        test = self.services[name]["healthcheck"]["test"]
        assert test[0] == "CMD", test
        self.running[name].exec(*test[1:])
        return True

    def up(self, name: str) -> None:
        """Starts a service after those that it depends on, as their conditions say."""
        for other, condition in self.services[name].get("depends_on", {}).items():
            if other not in self.running:
                self.up(other)
            if condition["condition"] == "service_healthy":
                wait_until(f"{other} is healthy", lambda other=other: self.is_healthy(other), 90, self.running[other].log)
        container = self._container(name)
        if name in ("enroll", "prepare-tem", "prepare-relay"):
            status = container.wait(COMMAND_TIMEOUT)
            assert status == 0, f"{name}: {container.log()}"

    def down(self) -> None:
        for name, container in reversed(self.running.items()):
            if container.is_running():
                seconds = duration(self.services[name]["stop_grace_period"])
                print(f"  {name} ended {container.stop(seconds):.1f} s after SIGTERM, of {seconds} s")
        self.running.clear()

    def kill(self) -> None:
        for container in self.running.values():
            container.kill()


def duration(text: str) -> int:
    """Seconds of a text such as 1m30s."""
    minutes, _, seconds = text.rstrip("s").rpartition("m")
    return int(minutes or 0) * 60 + int(seconds or 0)


def check(project: Project) -> None:
    ca = project.work / "volumes/dac/ca/ca.pem"
    token = (project.work / "volumes/dac/admin.token").read_text().strip()
    # Through the published ports, by the name that the certificates have.
    for port in [7070, 7073]:
        client = Client("127.0.0.1", "localhost", ca, token, port)
        assert b"<html" in client.get("/")[1].lower()
        for instance in ["processor", "network/oasis0"]:

            def arrived(client=client, instance=instance) -> bool:
                answer = client.json(f"/api/v1/samples/wait?node=this-host&instance={urllib.parse.quote(instance, safe='')}")
                return any(message["event"] == "samples" for message in answer["messages"])

            wait_until(f"samples of {instance} at port {port}", arrived, explain=project.running["node"].log)
        assert Client("127.0.0.1", "localhost", ca, "", port).get("/api/v1/nodes")[0] == 401
    tem = Client("127.0.0.1", "localhost", ca, token, 7072)
    assert tem.get("/")[0] == 200


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--compose", required=True, help="the program of packaging/tests/compose")
    parser.add_argument("--file", default="packaging/compose.yaml")
    parser.add_argument("--rootfs", type=Path, required=True, help="the unpacked image")
    parser.add_argument("--program", type=Path, help="covers the program of the image")
    parser.add_argument("--seccomp", type=Path, help="the filter that packaging/tests/seccomp prints")
    parser.add_argument("--work", type=Path, required=True)
    arguments = parser.parse_args()
    in_namespaces(__file__, sys.argv[1:])
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    os.environ.setdefault("OASIS_NAMES", "localhost,192.0.2.7,dac.example.org")
    read = subprocess.run([arguments.compose, arguments.file], check=True, capture_output=True)
    services = json.loads(read.stdout)["services"]
    program = arguments.program.resolve() if arguments.program else None
    project = Project(services, Image(arguments.rootfs.resolve(), program, arguments.work.resolve(), arguments.seccomp))
    try:
        for name in ["node", "tem", "relay"]:
            project.up(name)
        check(project)
        for name in ["dac", "node", "tem", "relay"]:
            project.running[name].check_confinement()
            if name != "node":
                wait_until(f"{name} is healthy", lambda name=name: project.is_healthy(name), explain=project.running[name].log)
        print("  samples at DAC and relay")
        project.down()
        for name in ["node", "tem", "relay"]:
            project.up(name)
        check(project)
        ca, token = project.work / "volumes/dac/ca/ca.pem", (project.work / "volumes/dac/admin.token").read_text().strip()
        tem = Client("127.0.0.1", "localhost", ca, token, 7072)
        wait_until(
            "the TEM lists the DAC",
            lambda: [one["name"] for one in tem.json("/api/v1/tem")["dacs"]] == ["dac"],
            explain=project.running["dac"].log,
        )
        print("  the same after a restart, and the TEM lists the DAC")
        project.down()
    finally:
        project.kill()


if __name__ == "__main__":
    begin = time.monotonic()
    main()
    print(f"compose: DAC, node, TEM and relay run ({time.monotonic() - begin:.0f} s)")
