#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>

#include "cli/deploy/deploy.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/deploy_cluster.h"
#include "support/deploy_configs.h"
#include "support/places.h"

namespace mindgate::cli {
namespace {

deploy::Health HealthOf(int64_t ready) {
  deploy::Health health;
  health.components = {{"engine", 2, ready, {}}, {"decoder", 1, 0, {}}};
  return health;
}

// What is written for a step, three looks of which two are the same, and another step.
std::string Shown(bool is_terminal, bool quiet, size_t width = 80) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Streams io{in, out, err};
  io.out_is_terminal = is_terminal;
  io.width = width;
  {
    ProgressPrinter printer(io, quiet);
    const deploy::Progress progress = printer.progress();
    progress.step("Service chat-router created");
    for (const int64_t ready : {0, 0, 1}) progress.waiting(HealthOf(ready));
    progress.step("rolling back");
    progress.waiting({});
  }
  return out.str();
}

TEST(ProgressPrinter, InAPipeALineForEachChange) {
  EXPECT_EQ(Shown(false, false),
            "Service chat-router created\n"
            "waiting: engine 0/2, decoder 0/1\n"
            "waiting: engine 1/2, decoder 0/1\n"
            "rolling back\n"
            "waiting: no pods yet\n");
}

// The line is written over, ends before anything else is written, and fits.
TEST(ProgressPrinter, OnATerminalALineThatChanges) {
  EXPECT_EQ(Shown(true, false),
            "Service chat-router created\n"
            "\r\033[Kwaiting: engine 0/2, decoder 0/1"
            "\r\033[Kwaiting: engine 1/2, decoder 0/1\n"
            "rolling back\n"
            "\r\033[Kwaiting: no pods yet\n");
  EXPECT_EQ(Shown(true, false, 20).find("decoder"), std::string::npos);
}

TEST(ProgressPrinter, QuietIsQuiet) {
  for (const bool is_terminal : {false, true}) EXPECT_EQ(Shown(is_terminal, true), "");
}

// `mindgate delete` on a terminal of its own.
class DeleteOnATerminal {
 public:
  explicit DeleteOnATerminal(const std::string& server) {
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (pid_ != 0) return;
    ::execl(mindgate::testing::Program(), "mindgate", "delete", "q", "-n", "llm", "-s",
            server.c_str(), nullptr);
    std::_Exit(127);
  }
  ~DeleteOnATerminal() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(terminal_);
  }
  DeleteOnATerminal(const DeleteOnATerminal&) = delete;
  DeleteOnATerminal& operator=(const DeleteOnATerminal&) = delete;

  // What it prints until `text` is there, or it ends, or nothing comes for long.
  std::string ReadUntil(const std::string& text) const {
    constexpr int kLongMs = 20'000;
    std::string all;
    while (all.find(text) == std::string::npos) {
      pollfd readable{.fd = terminal_, .events = POLLIN, .revents = 0};
      char chunk[4096];
      if (::poll(&readable, 1, kLongMs) <= 0) break;
      const ssize_t size = ::read(terminal_, chunk, sizeof chunk);
      if (size <= 0) break;
      all.append(chunk, static_cast<size_t>(size));
    }
    return all;
  }
  void PressCtrlC() const { EXPECT_EQ(::write(terminal_, "\x03", 1), 1); }
  void Terminate() const { ::kill(pid_, SIGTERM); }
  // -1: it runs for long still.
  int ExitCode() const {
    constexpr int kLooks = 2000;
    siginfo_t ended{};
    for (int look = 0; look < kLooks && ended.si_pid == 0; ++look) {
      ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
      if (ended.si_pid == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return ended.si_code == CLD_EXITED ? ended.si_status : -1;
  }

 private:
  pid_t pid_ = -1;
  int terminal_ = -1;
};

// Whoever is asked holds the Lease meanwhile, and others wait for it.
TEST(DeleteQuestion, CtrlCEndsTheCommand) {
  kube::testing::FakeApiServer server;
  mindgate::testing::Install(server);
  ASSERT_EQ(mindgate::testing::Cli({"deploy", "-f", "-", "-s", server.url()},
                                   std::string(mindgate::testing::kAibrixConfig))
                .code,
            kExitDone);
  const auto lease = [&server] {
    return server.Find(kube::resources::kLeases, "llm", "mindgate-deploy-q");
  };
  for (const bool by_key : {true, false}) {
    const DeleteOnATerminal command(server.url());
    EXPECT_THAT(command.ReadUntil("[y/N] "), ::testing::HasSubstr("Delete application q in "));
    EXPECT_TRUE(lease().is_object());
    if (by_key) command.PressCtrlC();
    if (!by_key) command.Terminate();
    EXPECT_THAT(command.ReadUntil("never printed"),
                ::testing::HasSubstr("\r\nerror: interrupted; nothing was changed\r\n"));
    EXPECT_EQ(command.ExitCode(), kExitDenied);
    EXPECT_TRUE(lease().is_null());
  }
  EXPECT_TRUE(server.Find(deploy::resources::kStormServices, "llm", "q").is_object());
}

}  // namespace
}  // namespace mindgate::cli
