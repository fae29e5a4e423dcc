#!/usr/bin/env python3
"""Runs the pods of the chart without a cluster: renders it, lays out its files as a kubelet does, starts each container as
the objects say, asks the probes, and follows samples from the nodes to the page of a relay. No object is changed."""

import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
from pathlib import Path

from containers import SUBNET, Client, Container, Image, Network, bind, in_namespaces, wait_until

NAMESPACE = "plant"
HOST = "host-1.example"
FS_GROUP = 10001
PASSWORD = "correct horse battery"
# Settings of the release: all parts, and a host's processes.
ALL_PARTS = ["tem.enabled=true", "tem.replicas=2", "relay.enabled=true", "node.hostPID=true", "dac.secretFiles=of-a-user",
             "ingress.enabled=true", "ingress.className=nginx", "ingress.host=plant.example.org", "ingress.path=/oasis", "ingress.backend=relay"]  # fmt: skip


def memory_of(container: dict) -> int:
    """The limit of its memory, bytes."""
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)", container["resources"]["limits"]["memory"]).groups()
    return int(number) << {"Mi": 20, "Gi": 30}[unit]


class Objects:
    """What the chart renders."""

    def __init__(self, helm: str, checker: str, chart: Path, values: list[str], tokens: dict | None = None, tls: dict | None = None):
        command = [helm, "template", "line", str(chart), "--namespace", NAMESPACE, "--kube-version", "1.31.0"]
        for value in values:
            command += ["--set", value]
        rendered = subprocess.run(command, check=True, capture_output=True).stdout
        checked = subprocess.run([checker, "-json", "-external", "of-a-user"], input=rendered, capture_output=True)
        assert checked.returncode == 0, checked.stderr.decode()
        self.all = [json.loads(line) for line in checked.stdout.splitlines()]
        # Without a cluster, helm cannot look up the secrets of the release before.
        self.secrets = {"of-a-user": {"mail": base64.b64encode(b"password").decode()}}
        for one in self.of("Secret"):
            self.secrets[one["metadata"]["name"]] = one["data"]
        if tokens:
            self.secrets["line-oasis-tokens"] = tokens
        if tls:
            self.secrets["line-oasis-tls"] = tls

    def of(self, kind: str) -> list[dict]:
        return [one for one in self.all if one["kind"] == kind]

    def named(self, kind: str, name: str) -> dict:
        return next(one for one in self.of(kind) if one["metadata"]["name"] == name)

    def secret(self, name: str, key: str) -> str:
        return base64.b64decode(self.secrets[name][key]).decode()


class Pod:
    """A pod of a workload, with the volumes that a kubelet would give it."""

    def __init__(self, cluster: "Cluster", workload: dict, name: str):
        self.cluster, self.name = cluster, name
        self.labels = workload["spec"]["template"]["metadata"]["labels"]
        self.is_on_host = workload["spec"]["template"]["spec"].get("hostNetwork", False)
        self.address = f"{SUBNET}.1" if self.is_on_host else cluster.network.join(name)
        self.containers: list[Container] = []
        self.update(workload)

    def update(self, workload: dict) -> None:
        """Replaces the pod by one of a changed workload: it keeps its name, and its claims."""
        self.spec = workload["spec"]["template"]["spec"]
        self.mounts = {volume["name"]: self._volume(volume) for volume in self.spec["volumes"]}
        for claim in workload["spec"].get("volumeClaimTemplates", []):
            # Volumes outlive pods.
            self.mounts[claim["metadata"]["name"]] = self._folder(
                self.cluster.work / "claims" / f"{claim['metadata']['name']}-{self.name}", keep=True
            )

    def _folder(self, path: Path, keep: bool = False) -> Path:
        if not keep:
            shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            path.mkdir(parents=True)
            os.chown(path, 0, FS_GROUP)
            # setgid, as fsGroup sets it.
            path.chmod(0o2777)
        return path

    def _volume(self, volume: dict) -> Path:
        folder = self.cluster.work / "volumes" / self.name / volume["name"]
        if "emptyDir" in volume:
            return self._folder(folder)
        if "configMap" in volume:
            files, mode = self.cluster.objects.named("ConfigMap", volume["configMap"]["name"])["data"], 0o644
            files = {key: text.encode() for key, text in files.items()}
        else:
            secret = volume["secret"]
            files, mode = self.cluster.objects.secrets[secret["secretName"]], secret["defaultMode"]
            files = {key: base64.b64decode(text) for key, text in files.items()}
            if "items" in secret:
                files = {item["path"]: files[item["key"]] for item in secret["items"]}
        # Files are links into a folder that is replaced as a whole; fsGroup adds reading by the group.
        folder = self._folder(folder)
        (folder / "..1").mkdir()
        (folder / "..data").symlink_to("..1")
        for key, content in files.items():
            path = folder / "..1" / key
            path.write_bytes(content)
            os.chown(path, 0, FS_GROUP)
            path.chmod(mode | 0o440)
            (folder / key).symlink_to(f"..data/{key}")
        folder.chmod(0o2755)
        return folder

    def _env(self, container: dict) -> dict[str, str]:
        fields = {"metadata.name": self.name, "spec.nodeName": HOST}
        env: dict[str, str] = {}
        for variable in container.get("env", []):
            source = variable.get("valueFrom", {})
            if "fieldRef" in source:
                value = fields[source["fieldRef"]["fieldPath"]]
            elif "secretKeyRef" in source:
                value = self.cluster.objects.secret(source["secretKeyRef"]["name"], source["secretKeyRef"]["key"])
            else:
                value = re.sub(r"\$\((\w+)\)", lambda found: env[found[1]], variable.get("value", ""))
            env[variable["name"]] = value
        return env

    def _start(self, container: dict) -> Container:
        hosts = self.cluster.hosts_file()
        mounts = [bind(hosts, "/etc/hosts", read_only=True)]
        for mount in container["volumeMounts"]:
            mounts.append(bind(self.mounts[mount["name"]], mount["mountPath"], mount.get("readOnly", False)))
        name = f"{self.name}-{container['name']}"
        return Container(self.cluster.image, name, container["command"] + container.get("args", []), self._env(container), mounts,
                         None if self.is_on_host else self.name, self.spec.get("hostPID", False), (FS_GROUP,), memory_of(container))  # fmt: skip

    def prepare(self) -> None:
        """Runs the init containers, each until it succeeds."""
        for container in self.spec.get("initContainers", []):
            last: list[str] = []

            def once(container=container, last=last) -> bool:
                started = self._start(container)
                status = started.wait(60)
                last[:] = [started.log()]
                return status == 0

            wait_until(f"{self.name} {container['name']}", once, 60, lambda: last[0] if last else "")

    def start(self) -> None:
        self.prepare()
        self.start_containers()

    def start_containers(self) -> None:
        self.containers = [self._start(container) for container in self.spec["containers"]]

    def probe(self, which: str) -> int:
        """Asks a probe as a kubelet does: at the pod's address, without a check of the certificate."""
        container = self.spec["containers"][0]
        get = container[which]["httpGet"]
        port = next(port["containerPort"] for port in container["ports"] if port["name"] == get["port"])
        client = Client(self.address, "", None, port=port, scheme=get["scheme"].lower())
        return client.get(get["path"])[0]

    def wait_ready(self) -> None:
        main = self.containers[0]
        for which in ["startupProbe", "livenessProbe", "readinessProbe"]:
            if which in self.spec["containers"][0]:

                def answers(which=which) -> bool:
                    assert main.is_running(), "it ended"
                    return self.probe(which) == 200

                wait_until(f"{which} of {self.name}", answers, 90, main.log)

    def stop(self) -> float:
        return max(container.stop(self.spec["terminationGracePeriodSeconds"]) for container in self.containers)


class Cluster:
    """All pods."""

    def __init__(self, objects: Objects, image: Image):
        self.objects, self.image, self.work = objects, image, image.work
        self.network = Network()
        self.pods: dict[str, Pod] = {}

    def add(self) -> None:
        for kind in ["StatefulSet", "Deployment", "DaemonSet"]:
            for workload in self.objects.of(kind):
                for number in range(workload["spec"].get("replicas", 1)):
                    name = f"{workload['metadata']['name']}-{number}"
                    self.pods[name] = Pod(self, workload, name)

    def hosts_file(self) -> Path:
        """The names that the cluster's DNS has."""
        lines = ["127.0.0.1 localhost"]
        for service in self.objects.of("Service"):
            name, spec = service["metadata"]["name"], service["spec"]
            chosen = [pod for pod in self.pods.values() if spec["selector"].items() <= pod.labels.items()]
            names = [(pod, f"{pod.name}.{name}") for pod in chosen] if spec.get("clusterIP") == "None" else [(chosen[0], name)]
            for pod, name in names:
                lines.append(f"{pod.address} {name}.{NAMESPACE}.svc.cluster.local {name}.{NAMESPACE}.svc {name}.{NAMESPACE} {name}")
        path = self.work / "hosts"
        path.write_text("\n".join(lines) + "\n")
        return path

    def client(self, pod: str, host: str, token: str = "") -> Client:
        ca = self.work / "ca.crt"
        ca.write_text(self.objects.secret("line-oasis-tls", "ca.crt"))
        return Client(self.pods[pod].address, host, ca, token)

    def kill(self) -> None:
        for pod in self.pods.values():
            for container in pod.containers:
                container.kill()


def test(cluster: Cluster, helm: str, checker: str, chart: Path) -> None:
    objects = cluster.objects
    cluster.add()
    token = {part: objects.secret("line-oasis-tokens", part) for part in ["admin", "metrics", "node"]}
    # All at once, as a cluster starts them: who needs the DAC waits for it.
    starts = [threading.Thread(target=pod.start) for pod in cluster.pods.values()]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    for pod in cluster.pods.values():
        pod.wait_ready()
    for pod in cluster.pods.values():
        pod.containers[0].check_confinement()
    print("  pods:", ", ".join(cluster.pods))

    service = f"line-oasis-relay.{NAMESPACE}.svc"
    dac, dac_pod = cluster.client("line-oasis-dac-0", f"line-oasis-dac.{NAMESPACE}.svc", token["admin"]), cluster.pods["line-oasis-dac-0"]
    for name in ["line-oasis-relay-0", "line-oasis-relay-1"]:
        relay = cluster.client(name, service, token["admin"])
        status, page = relay.get("/")
        assert status == 200 and b"<html" in page.lower(), (status, page[:200])
        wait_until(f"{name} has the node", lambda relay=relay: any(node["name"] == HOST for node in relay.json("/api/v1/nodes")["nodes"]))
        for instance in ["processor", "memory", "network/oasis0", "heartbeat"]:
            check_samples(relay, instance)
    print("  page and samples through both relays")

    # Rights of strangers, of the pod itself, and of tokens.
    stranger = cluster.client("line-oasis-dac-0", f"line-oasis-dac.{NAMESPACE}.svc")
    assert stranger.get("/api/v1/nodes")[0] == 401
    assert stranger.get("/")[0] == 200
    # A forwarded port comes from the pod itself.
    forwarded = subprocess.run(["ip", "netns", "exec", "line-oasis-dac-0", sys.executable, "-c", FORWARDED], capture_output=True, text=True)
    assert forwarded.stdout.strip() == "401", forwarded
    metrics = cluster.client("line-oasis-dac-0", f"line-oasis-dac.{NAMESPACE}.svc", token["metrics"])
    assert metrics.get("/metrics")[0] == 200 and metrics.get("/api/v1/users")[0] == 403
    node = cluster.client("line-oasis-dac-0", f"line-oasis-dac.{NAMESPACE}.svc", token["node"])
    assert node.get("/api/v1/nodes")[0] in (401, 403)
    for number in range(2):
        tem = cluster.client(f"line-oasis-tem-{number}", f"line-oasis-tem-{number}.line-oasis-tem-pods.{NAMESPACE}.svc", token["admin"])
        expected = {"dac", "line-oasis-relay-0", "line-oasis-relay-1"}
        wait_until(f"TEM {number} lists all", lambda tem=tem: {one["name"] for one in tem.json("/api/v1/tem")["dacs"]} >= expected)
    print("  rights, and lists of both TEMs")

    if shutil.which("nginx"):
        check_ingress(cluster, token["admin"])

    # A person, as the notes of the chart say.
    dac_pod.containers[0].exec("oasis", "user", "add", "ada", "--role", "viewer", "--password-file", "/dev/stdin", text=f"{PASSWORD}\n")
    relay = cluster.client("line-oasis-relay-1", service)

    def signed_in() -> bool:
        return relay.get("/api/v1/session", {"name": "ada", "password": PASSWORD})[0] in (200, 201)

    wait_until("ada signs in at a relay", signed_in)
    # A token for a node elsewhere.
    assert "oasis_" in dac_pod.containers[0].exec("oasis", "node", "token", "plant-7")
    assert (dac_pod.mounts["run"] / "secrets/mail").stat().st_mode & 0o777 == 0o600
    print("  a user of the DAC signs in at a relay")

    # The DAC goes and comes back: an upgrade of its image or settings.
    before, sequences = archived(dac), past(dac, "heartbeat")
    took = dac_pod.stop()
    print(f"  DAC ended {took:.1f} s after SIGTERM, of {dac_pod.spec['terminationGracePeriodSeconds']} s")
    # Another token of the administrator, and the others as an editor leaves them.
    tokens = {
        part: base64.b64encode(base64.b64decode(text) + b"\n").decode() for part, text in objects.secrets["line-oasis-tokens"].items()
    }
    tokens["admin"] = base64.b64encode(f"oasis_12345678_{'n' * 43}".encode()).decode()
    newer = Objects(helm, checker, chart, [*ALL_PARTS, "dac.settings.log.topic_seconds=600"], tokens, objects.secrets["line-oasis-tls"])
    annotations = [one.named("StatefulSet", "line-oasis-dac")["spec"]["template"]["metadata"]["annotations"] for one in (objects, newer)]
    assert annotations[0] != annotations[1], "other settings make no other pod"
    cluster.objects = newer
    dac_pod.update(newer.named("StatefulSet", "line-oasis-dac"))
    dac_pod.start()
    dac_pod.wait_ready()
    assert "topic_seconds = 600" in dac_pod.containers[0].exec("cat", "/etc/oasis/settings/oasis.toml")
    new_admin = cluster.client("line-oasis-dac-0", f"line-oasis-dac.{NAMESPACE}.svc", newer.secret("line-oasis-tokens", "admin"))
    assert dac.get("/api/v1/nodes")[0] == 401, "the token of before is still good"
    assert before <= archived(new_admin), "the archive lost instances"
    assert sequences and sequences <= past(new_admin, "heartbeat"), "the archive lost samples"
    wait_until("ada is still there", signed_in)
    check_samples(new_admin, "processor")
    check_samples(cluster.client("line-oasis-relay-0", service, newer.secret("line-oasis-tokens", "admin")), "processor")
    print("  after an upgrade: same archive, accounts and nodes; another token of the administrator")

    # Killed, as for want of memory: the kubelet starts the container again, and nothing before it.
    dac_pod.containers[0].kill()
    dac_pod.start_containers()
    dac_pod.wait_ready()
    assert sequences <= past(new_admin, "heartbeat"), "the archive lost samples"
    check_samples(new_admin, "processor")
    print("  the same after kill -9")

    # A node that starts while the DAC is away, with the certificate of before.
    node_pod = cluster.pods["line-oasis-node-0"]
    print(f"  node ended {node_pod.stop():.1f} s after SIGTERM")
    dac_pod.stop()
    node_pod.start()
    assert node_pod.containers[0].is_running()
    dac_pod.start()
    dac_pod.wait_ready()
    check_samples(new_admin, "heartbeat")
    print("  a node that started before its DAC is back")
    for pod in cluster.pods.values():
        took = pod.stop()
        print(f"  {pod.name} ended {took:.1f} s after SIGTERM, of {pod.spec['terminationGracePeriodSeconds']} s")


NGINX = """
daemon off; pid {work}/pid; error_log {work}/error.log; events {{}}
http {{
  access_log off; client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/f; uwsgi_temp_path {work}/u; scgi_temp_path {work}/s;
  map $http_upgrade $connection_upgrade {{ default upgrade; "" ""; }}
  server {{
    listen 127.0.0.1:8080; server_name {host};
    location ~* "^{path}" {{
      proxy_http_version 1.1; proxy_buffering {buffering}; proxy_read_timeout {timeout}s;
      proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto https;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
      rewrite "(?i){path}" {target} break;
      proxy_pass {protocol}://{address}:7070;
    }}
  }}
}}
"""


def check_ingress(cluster: Cluster, token: str) -> None:
    """Opens the page below a path, through nginx with the directives that ingress-nginx makes of the annotations."""
    route = cluster.objects.of("Ingress")[0]
    annotations = {key.rpartition("/")[2]: value for key, value in route["metadata"]["annotations"].items()}
    rule = route["spec"]["rules"][0]
    folder = cluster.work / "nginx"
    folder.mkdir()
    config = NGINX.format(work=folder, host=rule["host"], path=rule["http"]["paths"][0]["path"], target=annotations["rewrite-target"],
                          buffering=annotations["proxy-buffering"], timeout=annotations["proxy-read-timeout"],
                          protocol=annotations["backend-protocol"].lower(), address=cluster.pods["line-oasis-relay-0"].address)  # fmt: skip
    (folder / "nginx.conf").write_text(config)
    nginx = subprocess.Popen(["nginx", "-e", folder / "error.log", "-c", folder / "nginx.conf"])
    try:
        browser = Client("127.0.0.1", rule["host"], None, token, port=8080, scheme="http")
        page = wait_until("nginx answers", lambda: browser.get("/oasis/")[1], explain=(folder / "error.log").read_text)
        files = re.findall(rb'(?:src|href)="\./([^"]+)"', page)
        assert files, page[:500]
        for file in files:
            status, content = browser.get(f"/oasis/{file.decode()}")
            assert status == 200 and content, (file, status)
        assert any(node["name"] == HOST for node in browser.json("/oasis/api/v1/nodes")["nodes"])
        stranger = Client("127.0.0.1", rule["host"], None, port=8080, scheme="http")
        assert stranger.get("/oasis/api/v1/nodes")[0] == 401
        # Another host name is refused by the relay, and another path is not ours.
        assert Client("127.0.0.1", "evil.example", None, token, port=8080, scheme="http").get("/oasis/")[0] == 421
        assert browser.get("/oasisx/")[0] == 404
    finally:
        nginx.terminate()
        nginx.wait(10)
    print(f"  page below a path: {len(files)} files")


FORWARDED = """
import ssl, urllib.error, urllib.request
try:
    urllib.request.urlopen("https://127.0.0.1:7070/api/v1/nodes", context=ssl._create_unverified_context())
    print(200)
except urllib.error.HTTPError as error:
    print(error.code)
"""


def test_others(cluster: Cluster) -> None:
    """Starts the pods of other values, and waits for samples at DAC and relay."""
    cluster.add()
    starts = [threading.Thread(target=pod.start) for pod in cluster.pods.values()]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    for pod in cluster.pods.values():
        pod.wait_ready()
    has_tls = "line-oasis-tls" in cluster.objects.secrets
    # A relay without accounts knows no tokens.
    is_open = "insecure = true" in cluster.objects.named("ConfigMap", "line-oasis-dac")["data"]["oasis.toml"].partition("[access]")[2]
    token = "" if is_open else cluster.objects.secret("line-oasis-tokens", "admin")
    for part in ["dac", "relay"]:
        if pod := cluster.pods.get(f"line-oasis-{part}-0"):
            host = f"line-oasis-{part}.{NAMESPACE}.svc"
            client = cluster.client(pod.name, host, token) if has_tls else Client(pod.address, host, None, token, scheme="http")
            check_samples(client, "network/eth0" if part == "dac" else "processor")
    for pod in cluster.pods.values():
        pod.stop()


def archived(client: Client) -> set[str]:
    """Instances that the archive has, once it has some."""
    instances = wait_until("the archive has instances", lambda: client.json("/api/v1/archive/instances")["instances"])
    return {f"{one['node']}/{one['instance']}" for one in instances}


def past(client: Client, instance: str) -> set[int]:
    """Sequence numbers of the samples that the DAC has of its node."""
    answer = client.json(f"/api/v1/samples?node={HOST}&instance={instance}&from=-1h")
    return {sample["sequence"] for message in answer["messages"] if message["event"] == "samples" for sample in message["samples"]}


def check_samples(client: Client, instance: str) -> None:
    """Waits for a sample that arrives from now on."""

    def arrived() -> bool:
        answer = client.json(f"/api/v1/samples/wait?node={HOST}&instance={urllib.parse.quote(instance, safe='')}")
        return any(message["event"] == "samples" and message["samples"] for message in answer["messages"])

    wait_until(f"samples of {instance}", arrived)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--helm", default="helm")
    parser.add_argument("--objects", required=True, help="the program of packaging/tests/objects")
    parser.add_argument("--rootfs", type=Path, required=True, help="the unpacked image")
    parser.add_argument("--program", type=Path, help="covers the program of the image")
    parser.add_argument("--chart", type=Path, default=Path("packaging/helm/oasis"))
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seccomp", type=Path, help="the filter that packaging/tests/seccomp prints")
    parser.add_argument("--values", help="other values, as of helm --set; the node has no network of the host")
    arguments = parser.parse_args()
    in_namespaces(__file__, sys.argv[1:])
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    values = [arguments.values, "node.hostNetwork=false"] if arguments.values else ALL_PARTS
    objects = Objects(arguments.helm, arguments.objects, arguments.chart, values)
    program = arguments.program.resolve() if arguments.program else None
    cluster = Cluster(objects, Image(arguments.rootfs.resolve(), program, arguments.work.resolve(), arguments.seccomp))
    try:
        if arguments.values:
            test_others(cluster)
            print(f"  {arguments.values}: samples arrive")
        else:
            test(cluster, arguments.helm, arguments.objects, arguments.chart)
    finally:
        cluster.kill()


if __name__ == "__main__":
    main()
