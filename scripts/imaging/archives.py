"""The two forms of an archive: docker's, for one architecture, and OCI's, for several."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping

OCI = "application/vnd.oci.image"


def docker_archive(layer: bytes, config: bytes, name: str) -> bytes:
    """Docker's archive: the manifest, the config named by its digest, and one compressed layer."""
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    layer_name = hashlib.sha256(layer).hexdigest() + "/layer.tar"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": [layer_name]}]
    members = {
        "manifest.json": json.dumps(manifest).encode(),
        config_name: config,
        layer_name: gzip.compress(layer, compresslevel=6, mtime=0),
    }
    return _tar_of(members)


def oci_archive(
    images: Mapping[str, tuple[bytes, bytes]], name: str, tag: str, gzipped: Callable[[bytes], bytes]
) -> tuple[bytes, str]:
    """An archive of one index with the layer and configuration of each architecture, and the digest of the index.

    It is an OCI layout that older versions of docker load, too: these read manifest.json and tag an image of each architecture.
    """
    blobs: dict[str, bytes] = {}
    listed = []
    loaded = []

    def blob(content: bytes, kind: str) -> dict[str, object]:
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"{OCI}.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    for architecture, (layer, config) in sorted(images.items()):
        described = blob(config, "config.v1+json")
        packed = blob(gzipped(layer), "layer.v1.tar+gzip")
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{OCI}.manifest.v1+json",
            "config": described,
            "layers": [packed],
        }
        platform = {"architecture": architecture, "os": "linux"}
        listed.append({**blob(_json(manifest), "manifest.v1+json"), "platform": platform})
        paths = ["blobs/sha256/" + str(part["digest"]).removeprefix("sha256:") for part in (described, packed)]
        loaded.append({"Config": paths[0], "RepoTags": [f"{name}:{tag}-{architecture}"], "Layers": paths[1:]})
    index = {"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": listed}
    top = blob(_json(index), "index.v1+json")
    names = {"io.containerd.image.name": f"{name}:{tag}", "org.opencontainers.image.ref.name": tag}
    members = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": _json({**index, "manifests": [{**top, "annotations": names}]}),
        "manifest.json": _json(loaded),
        **dict(sorted(blobs.items())),
    }
    return _tar_of(members), str(top["digest"])


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _tar_of(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()
