# Toolchain of a released program: static-pie, for MINDGATE_TRIPLE, with headers and libraries of MINDGATE_SYSROOT alone. That
# folder, which scripts/release fills, has no shared library; none of the machine's own files is compiled or linked in.

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MINDGATE_TRIPLE MINDGATE_SYSROOT MINDGATE_GCC)
set(MINDGATE_GCC 12 CACHE STRING "Major version of GCC, as Debian's folders have it")
if(NOT MINDGATE_TRIPLE MATCHES "^(x86_64|aarch64)-linux-gnu$" OR NOT EXISTS "${MINDGATE_SYSROOT}/usr/include")
  message(FATAL_ERROR "MINDGATE_TRIPLE (${MINDGATE_TRIPLE}) or MINDGATE_SYSROOT (${MINDGATE_SYSROOT}) is not set right: run `make release`")
endif()

set(CMAKE_SYSTEM_NAME Linux)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR ${MINDGATE_TRIPLE})
set(CMAKE_C_COMPILER ${MINDGATE_TRIPLE}-gcc-${MINDGATE_GCC})
set(CMAKE_CXX_COMPILER ${MINDGATE_TRIPLE}-g++-${MINDGATE_GCC})
set(CMAKE_STRIP ${MINDGATE_TRIPLE}-strip)
set(CMAKE_SYSROOT ${MINDGATE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH ${MINDGATE_SYSROOT})
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_LIBRARY_ARCHITECTURE ${MINDGATE_TRIPLE})
# Some questions about the system are answered by a program that runs.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
endif()

set(ENV{PKG_CONFIG_SYSROOT_DIR} ${MINDGATE_SYSROOT})
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_LIBDIR} ${MINDGATE_SYSROOT}/usr/local/lib/pkgconfig:${MINDGATE_SYSROOT}/usr/lib/${MINDGATE_TRIPLE}/pkgconfig:${MINDGATE_SYSROOT}/usr/share/pkgconfig)

# A compiler finds its own libraries before those of a sysroot, but what -B and -isystem name before both.
set(gcc_folder ${MINDGATE_SYSROOT}/usr/lib/gcc/${MINDGATE_TRIPLE}/${MINDGATE_GCC})
set(c_headers "-nostdinc -isystem ${gcc_folder}/include -isystem ${MINDGATE_SYSROOT}/usr/local/include -isystem ${MINDGATE_SYSROOT}/usr/include/${MINDGATE_TRIPLE} -isystem ${MINDGATE_SYSROOT}/usr/include")
set(cxx_headers "-nostdinc++ -isystem ${MINDGATE_SYSROOT}/usr/include/c++/${MINDGATE_GCC} -isystem ${MINDGATE_SYSROOT}/usr/include/${MINDGATE_TRIPLE}/c++/${MINDGATE_GCC}")
# The same bytes wherever it is built: no path of this machine gets into an object.
set(flags "-B${gcc_folder} -B${MINDGATE_SYSROOT}/usr/lib/${MINDGATE_TRIPLE} -ffile-prefix-map=${MINDGATE_SYSROOT}=")
string(APPEND flags " -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build")
# -fPIE, not -fPIC: each symbol that is called by way of the global offset table takes an entry, and the glibc of arm64 reaches
# 4,096 of them at most.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
string(APPEND flags " -fPIE -fstack-protector-strong")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  string(APPEND flags " -fcf-protection")
else()
  string(APPEND flags " -mbranch-protection=standard")
endif()
set(CMAKE_C_FLAGS_INIT "${flags} ${c_headers}")
set(CMAKE_CXX_FLAGS_INIT "${flags} ${cxx_headers} ${c_headers}")
# 64-KiB pages, which kernels of arm64 may have.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static-pie -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,--build-id=sha1")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-z,max-page-size=0x10000")
else()
  # 35,000 relocations in 10 kB instead of 845 kB; the linker of Debian 12 has it for this architecture alone.
  string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-z,pack-relative-relocs")
endif()
