"""What is linked into a program, as its linker wrote it down: the packages and sources of Debian, with their licences."""

from __future__ import annotations

import dataclasses
import pathlib
import re

from common import Fault
from libraries import LIBRARIES
from program import Program
from sysroot import Sysroot

# Compiled in from headers, of which a linker knows nothing.
HEADERS = ("libcli11-dev", "libexpected-dev", "nlohmann-json3-dev")
# `LOAD file` is what it was given, `archive(member)` what it took of it.
LOADED = re.compile(r"(?m)^LOAD (\S+\.o)$|^(\S+\.a)\(")
# Licences that copyright files of Debian refer to instead of repeating them.
REFERRED = re.compile(r"/usr/share/common-licenses/([A-Z][\w.+-]*\w)")


@dataclasses.dataclass(frozen=True, order=True)
class Component:
    """A source package of Debian of which something is in the program."""

    source: str
    version: str
    packages: tuple[str, ...]  # the binary packages that it came from; none where it was built from source
    copyright: pathlib.Path


def components_of(program: Program, sysroot: Sysroot) -> list[Component]:
    packages = set(HEADERS)
    sources = set()
    built = {archive: library.source for library in LIBRARIES for archive in library.archives}
    for path in _linked(program, sysroot):
        name = path.rsplit("/", 1)[-1]
        if path.startswith("usr/local/lib/") and name in built:
            sources.add(built[name])
        elif path in sysroot.owners:
            packages.add(sysroot.owners[path])
        else:
            raise Fault(f"{program.path}: no package is known of {path}, which is linked in: see {program.link_map}")
    return sorted([*_packaged(packages, sysroot), *_built(sources, sysroot)])


def _linked(program: Program, sysroot: Sysroot) -> set[str]:
    """Files of the sysroot; what is not below it must be of this project."""
    found = set()
    build = program.link_map.parent.resolve()
    for groups in LOADED.findall(program.link_map.read_text()):
        path = (build / "".join(groups)).resolve()
        if path.is_relative_to(sysroot.root.resolve()):
            found.add(str(path.relative_to(sysroot.root.resolve())))
        elif not path.is_relative_to(build):
            raise Fault(f"{program.path}: {path} is linked in and is not of the sysroot: see cmake/Static.cmake")
    return found


def _packaged(names: set[str], sysroot: Sysroot) -> list[Component]:
    grouped: dict[tuple[str, str], list[str]] = {}
    for record in sysroot.packages:
        if record["package"] in names:
            grouped.setdefault((record["source"], record["source_version"]), []).append(record["package"])
    return [
        Component(source, version, tuple(sorted(packages)), sysroot.root / "usr/share/doc" / packages[0] / "copyright")
        for (source, version), packages in grouped.items()
    ]


def _built(names: set[str], sysroot: Sysroot) -> list[Component]:
    return [
        Component(name, sysroot.sources[name], (), sysroot.root / "usr/share/doc" / name / "copyright")
        for name in names
    ]


def certificates_of(sysroot: Sysroot) -> Component:
    """The CA certificates that go into the image."""
    return _packaged({"ca-certificates"}, sysroot)[0]


def notice(components: list[Component], sysroot: Sysroot) -> str:
    """The licences of all components, and once each the texts that these refer to."""
    parts = [
        "mindgate is linked statically. These are the copyright notices and licences of what is in the program beside\n"
        "mindgate itself, as Debian 12 has them, and the sources that they come from (https://tracker.debian.org).\n"
    ]
    referred = set()
    for component in components:
        text = component.copyright.read_text(errors="replace").strip()
        referred |= set(REFERRED.findall(text))
        title = f"{component.source} {component.version}"
        parts.append(f"{'=' * 100}\n{title}\n{'=' * 100}\n\n{text}\n")
    texts = {name: (sysroot.root / "usr/share/common-licenses" / name) for name in sorted(referred)}
    for name, path in texts.items():
        if path.exists():
            parts.append(f"{'=' * 100}\nLicence {name}\n{'=' * 100}\n\n{path.read_text().strip()}\n")
    return "\n".join(parts)
