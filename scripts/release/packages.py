"""The three forms in which a program is installed: a tar, a package of Debian, an RPM. None has a dependency."""

from __future__ import annotations

import io
import pathlib
import shutil
import tarfile

from common import ROOT, gzipped, run, write
from settings import Settings
from tree import set_times

SUMMARY = "Keeps Ascend NPU jobs schedulable, reschedulable and elastic on Kubernetes"
DESCRIPTION = (
    "mindgate checks and completes manifests of Ascend NPU jobs, explains each mistake with its place and fix, simulates faults,",
    "and shows what they do to a cluster. The program is also a plugin of kubectl, and the webhook and watcher of a cluster.",
)
PAGE = "https://github.com/mindgate/mindgate"
RPM_NAMES = {"amd64": "x86_64", "arm64": "aarch64"}


def tar_gz(files: list[tuple[str, pathlib.Path]], epoch: int) -> bytes:
    """A compressed tar of these files, by their names in it: of root, with the time of the commit."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, path in files:
            entry = tar.gettarinfo(path, arcname=name)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            entry.mtime = epoch
            if entry.isreg():
                with path.open("rb") as file:
                    tar.addfile(entry, file)
            else:
                tar.addfile(entry)
    return gzipped(out.getvalue())


def tar(settings: Settings, architecture: str, tree: pathlib.Path) -> pathlib.Path:
    """bin/ and share/, for any prefix, with the licence at the top, where people look for it."""
    name = f"mindgate-{settings.version}-linux-{architecture}"
    usr = tree / "usr"
    documents = usr / "share/doc/mindgate"
    files = [
        (f"{name}/{path.relative_to(usr)}", path)
        for path in usr.rglob("*")
        if path != documents and documents not in path.parents
    ]
    files += [(f"{name}/LICENSE", documents / "copyright")]
    files += [(f"{name}/{path.name}", path) for path in documents.iterdir() if path.name != "copyright"]
    return write(settings.dist / f"{name}.tar.gz", tar_gz(sorted(files), settings.epoch))


def _installed(settings: Settings, architecture: str, tree: pathlib.Path, kind: str) -> pathlib.Path:
    """A copy of the tree as distributions have it: man pages are compressed."""
    root = settings.work / kind / architecture
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(tree, root, symlinks=True)
    manual = root / "usr/share/man/man1"
    for path in list(manual.iterdir()):
        target = path.with_name(path.name + ".gz")
        if path.is_symlink():
            target.symlink_to(f"{path.readlink()}.gz")
        else:
            write(target, gzipped(path.read_bytes()))
        path.unlink()
    return root


def deb(settings: Settings, architecture: str, tree: pathlib.Path) -> pathlib.Path:
    root = _installed(settings, architecture, tree, "deb")
    size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    sums = run(["sh", "-c", "find usr -type f | LC_ALL=C sort | xargs md5sum"], cwd=root)
    control = {
        "Package": "mindgate",
        "Version": settings.version,
        "Architecture": architecture,
        "Maintainer": f"mindgate <{settings.security_contact.removeprefix('mailto:')}>",
        "Installed-Size": str(size),
        "Suggests": "kubectl",
        "Section": "admin",
        "Priority": "optional",
        "Homepage": PAGE,
        "Description": SUMMARY + "".join(f"\n {line}" for line in DESCRIPTION),
    }
    write(root / "DEBIAN/control", "".join(f"{key}: {value}\n" for key, value in control.items()))
    write(root / "DEBIAN/md5sums", sums)
    (root / "DEBIAN").chmod(0o755)
    set_times(root, settings.epoch)
    package = settings.dist / f"mindgate_{settings.version}_{architecture}.deb"
    environment = {"SOURCE_DATE_EPOCH": str(settings.epoch)}
    run(["dpkg-deb", "-Zxz", "--root-owner-group", "--build", root, package], env=environment)
    return package


def rpm(settings: Settings, architecture: str, tree: pathlib.Path) -> pathlib.Path:
    root = _installed(settings, architecture, tree, "rpm")
    set_times(root, settings.epoch)
    files = [f"/{path.relative_to(root)}" for path in sorted(root.rglob("*")) if not path.is_dir()]
    template = (ROOT / "scripts/release/mindgate.spec").read_text()
    values = {
        "version": settings.version,
        "summary": SUMMARY,
        "page": PAGE,
        "description": "\n".join(DESCRIPTION),
        "tree": str(root),
        "files": "\n".join(files),
    }
    for key, value in values.items():
        template = template.replace(f"@{key}@", value)
    work = settings.work / "rpmbuild" / architecture
    shutil.rmtree(work, ignore_errors=True)
    spec = write(work / "mindgate.spec", template)
    target = RPM_NAMES[architecture]
    command = ["rpmbuild", "-bb", "--quiet", "--target", f"{target}-linux", "--define", f"_topdir {work}", spec]
    run(command, log=work / "rpmbuild.log", env={"SOURCE_DATE_EPOCH": str(settings.epoch), "LC_ALL": "C"})
    package = settings.dist / f"mindgate-{settings.version}-1.{target}.rpm"
    shutil.copyfile(work / "RPMS" / target / package.name, package)
    return package
