"""The libraries of which Debian has no static form, or none that can be linked: built from Debian's sources."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil

from common import ROOT, jobs, run

TOOLCHAIN = ROOT / "cmake/Static.cmake"
SHARED = (
    "-DCMAKE_BUILD_TYPE=None",
    "-DCMAKE_INSTALL_PREFIX=/usr/local",
    "-DCMAKE_INSTALL_LIBDIR=lib",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DBUILD_TESTING=OFF",
    "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
)
OPTIMISED = "-O2 -DNDEBUG -D_FORTIFY_SOURCE=3 -ffunction-sections -fdata-sections"


@dataclasses.dataclass(frozen=True)
class Library:
    """A source package, the archives that it gives, and the settings of its CMake build."""

    source: str
    archives: tuple[str, ...]
    settings: tuple[str, ...]


# In this order: spdlog needs fmt.
LIBRARIES = (
    Library("fmtlib", ("libfmt.a",), ("-DFMT_DOC=OFF", "-DFMT_TEST=OFF")),
    Library(
        "spdlog",
        ("libspdlog.a",),
        ("-DSPDLOG_FMT_EXTERNAL=ON", "-DSPDLOG_BUILD_EXAMPLE=OFF", "-DSPDLOG_BUILD_TESTS=OFF"),
    ),
    Library("simdjson", ("libsimdjson.a",), ("-DSIMDJSON_DEVELOPER_MODE=OFF",)),
    Library(
        "mimalloc",
        ("libmimalloc.a",),
        ("-DMI_BUILD_SHARED=OFF", "-DMI_BUILD_OBJECT=OFF", "-DMI_BUILD_TESTS=OFF", "-DMI_INSTALL_TOPLEVEL=ON"),
    ),
    Library(
        "prometheus-cpp",
        ("libprometheus-cpp-core.a",),
        (
            "-DENABLE_PUSH=OFF",
            "-DENABLE_PULL=OFF",
            "-DENABLE_COMPRESSION=OFF",
            "-DENABLE_TESTING=OFF",
            "-DUSE_THIRDPARTY_LIBRARIES=OFF",
            "-DGENERATE_PKGCONFIG=ON",
        ),
    ),
    # HTTP and HTTPS alone, with nothing but OpenSSL.
    Library(
        "curl",
        ("libcurl.a",),
        (
            "-DHTTP_ONLY=ON",
            "-DCURL_USE_OPENSSL=ON",
            "-DBUILD_CURL_EXE=OFF",
            "-DENABLE_MANUAL=OFF",
            "-DCURL_DISABLE_ALTSVC=ON",
            "-DCURL_DISABLE_HSTS=ON",
            "-DCURL_DISABLE_NTLM=ON",
            "-DCURL_ZLIB=OFF",
            "-DCURL_BROTLI=OFF",
            "-DCURL_ZSTD=OFF",
            "-DCURL_USE_LIBPSL=OFF",
            "-DCURL_USE_LIBSSH2=OFF",
            "-DCURL_USE_GSSAPI=OFF",
            "-DUSE_LIBIDN2=OFF",
            "-DUSE_NGHTTP2=OFF",
            "-DCURL_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt",
            "-DCURL_CA_PATH=/etc/ssl/certs",
        ),
    ),
)


def sysroot_settings(triple: str, sysroot: pathlib.Path) -> list[str]:
    """What cmake/Static.cmake asks for."""
    return [f"-DMINDGATE_TRIPLE={triple}", f"-DMINDGATE_SYSROOT={sysroot}"]


def build_library(library: Library, source: pathlib.Path, triple: str, sysroot: pathlib.Path) -> None:
    """Builds one library and installs it into /usr/local of the sysroot, with its licence where Debian's packages have theirs."""
    build = source.parent / "build"
    log = source.parent / "build.log"
    flags = [f"-DCMAKE_{language}_FLAGS_NONE={OPTIMISED}" for language in ("C", "CXX")]
    toolchain = ["-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}", *sysroot_settings(triple, sysroot)]
    settings = [*toolchain, *SHARED, *flags, *library.settings]
    run(["cmake", "-S", source, "-B", build, *settings], log=log)
    run(["ninja", "-C", build, "-j", str(jobs())], log=log)
    run(["cmake", "--install", build], log=log, env={"DESTDIR": str(sysroot)})
    licence = sysroot / "usr/share/doc" / library.source / "copyright"
    licence.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "debian/copyright", licence)
