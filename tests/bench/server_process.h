#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "bench/measure.h"
#include "bench/tls_connection.h"
#include "certs/authority.h"
#include "certs/certificate.h"
#include "support/places.h"

// Servers as processes of their own, so that their CPU time and memory are theirs alone.
namespace mindgate::bench {

// A folder with tls.crt and tls.key for localhost (ECDSA P-256), gone in the end.
class CertFolder {
 public:
  CertFolder() {
    const Time now = SystemClock().WallNow();
    const auto authority = certs::CreateAuthority(now);
    certs::LeafRequest request;
    request.dns_names = {"localhost"};
    request.now = now;
    const auto leaf = certs::IssueLeaf(*authority, request);
    path_ = (std::filesystem::temp_directory_path() / "mindgate-bench-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) std::_Exit(1);
    std::ofstream(path_ + "/tls.crt") << certs::WriteCertificate(leaf->certificate.get());
    std::ofstream(path_ + "/tls.key") << certs::WriteKey(leaf->key.get());
  }
  ~CertFolder() { std::filesystem::remove_all(path_); }
  CertFolder(const CertFolder&) = delete;
  CertFolder& operator=(const CertFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A port of 127.0.0.1 that nobody listens on.
inline uint16_t FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket, generic, size) != 0 || ::getsockname(socket, generic, &size) != 0) {
    std::_Exit(1);
  }
  ::close(socket);
  return ntohs(address.sin_port);
}

// Where the threads that are made from here on run; nothing: anywhere. This thread too.
inline void PinTo(std::optional<int> core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!core || *core == i) CPU_SET(i, &cores);
  }
  ::sched_setaffinity(0, sizeof cores, &cores);
}

class ServerProcess {
 public:
  // Comes back when the server answers `probe` with 200. Ends this program if it never does.
  ServerProcess(std::vector<std::string> command, uint16_t port, const std::string& probe,
                std::optional<int> core = std::nullopt)
      : port_(port), pid_(::fork()) {
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (core) PinTo(core);
      std::vector<char*> arguments;
      for (std::string& word : command) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      std::_Exit(1);
    }
    const SslContext context = ClientContext();
    while (!TlsConnection(context.get(), port_).Ask(probe)) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) {
        std::fprintf(stderr, "%s did not start\n", command[0].c_str());
        std::exit(1);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ~ServerProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  uint16_t port() const { return port_; }

  // Of all its threads, in microseconds. The clock of a process counts nanoseconds; the ticks of
  // /proc/PID/stat are 10 ms.
  double CpuTime() const {
    clockid_t clock = 0;
    timespec time{};
    if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
  }

  double ResidentMib() const { return StatusBytes(pid_, "VmRSS:") / (1 << 20); }
  double PeakMib() const { return StatusBytes(pid_, "VmHWM:") / (1 << 20); }

 private:
  uint16_t port_;
  pid_t pid_;
};

// The program that is installed.
inline std::vector<std::string> MindgateCommand(const CertFolder& folder, uint16_t port) {
  return {::mindgate::testing::Program(),
          "webhook",
          "--cert-dir",
          folder.path(),
          "--listen",
          "127.0.0.1:" + std::to_string(port),
          "--probe-listen",
          "127.0.0.1:" + std::to_string(FreePort()),
          "--log-level",
          "error"};
}

// tests/bench/go_webhook, where scripts/bench could build it; else empty.
inline std::vector<std::string> GoCommand(const CertFolder& folder, uint16_t port) {
  const char* program = std::getenv("MINDGATE_GO_WEBHOOK");
  if (program == nullptr || *program == '\0') return {};
  return {program, "-cert-dir", folder.path(), "-port", std::to_string(port)};
}

}  // namespace mindgate::bench
