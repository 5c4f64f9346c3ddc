"""What every image of mindgate has, whether of a local build or of a release: its files, its layer, its configuration."""

from __future__ import annotations

import hashlib
import io
import json
import pathlib
import shutil
import tarfile

DESCRIPTION = "Keeps Ascend NPU jobs schedulable, reschedulable and elastic on Kubernetes"
UID = 9000  # also in charts/mindgate/values.yaml
CA_CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
PACKAGES = "usr/share/doc/mindgate/packages"
# What scanners read of a package; Debian says by its source package what is vulnerable.
STATUSES = "var/lib/dpkg/status.d"
TEXTS = {
    "etc/passwd": f"root:x:0:0:root:/:/sbin/nologin\nmindgate:x:{UID}:{UID}:mindgate:/:/sbin/nologin\n",
    "etc/group": f"root:x:0:\nmindgate:x:{UID}:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


def put(root: pathlib.Path, path: str, source: pathlib.Path, mode: int = 0o644) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def write(root: pathlib.Path, path: str, text: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    target.chmod(0o644)


def fill(root: pathlib.Path, program: pathlib.Path, licence: pathlib.Path, certificates: pathlib.Path) -> None:
    """Lays what every image has under `root`."""
    put(root, "usr/bin/mindgate", program, 0o755)
    (root / "usr/bin/kubectl-mindgate").symlink_to("mindgate")
    put(root, "usr/share/doc/mindgate/copyright", licence)
    put(root, CA_CERTIFICATES, certificates)
    for path, text in TEXTS.items():
        write(root, path, text)


def layer_of(root: pathlib.Path) -> bytes:
    """The files as a tar: sorted, of root, from 1970."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            entry = tar.gettarinfo(path, arcname=str(path.relative_to(root)))
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            if entry.isdir():
                entry.mode = 0o755
            if entry.isreg():
                with path.open("rb") as file:
                    tar.addfile(entry, file)
            else:
                tar.addfile(entry)
    return out.getvalue()


def config_of(layer: bytes, architecture: str, version: str, packages: str, maker: str) -> bytes:
    """The configuration of an image of one layer; `architecture` is as images name it."""
    config = {
        "architecture": architecture,
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {
            "User": f"{UID}:{UID}",
            "Entrypoint": ["/usr/bin/mindgate"],
            "Env": ["PATH=/usr/bin"],
            "WorkingDir": "/",
            "Labels": {
                "org.opencontainers.image.title": "mindgate",
                "org.opencontainers.image.description": DESCRIPTION,
                "org.opencontainers.image.licenses": "Apache-2.0",
                "org.opencontainers.image.version": version,
                "io.mindgate.packages": packages,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": "1970-01-01T00:00:00Z", "created_by": maker}],
    }
    return json.dumps(config, indent=1, sort_keys=True).encode()
