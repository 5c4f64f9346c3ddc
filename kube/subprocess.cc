#include "kube/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/files.h"

namespace mindgate::kube {
namespace {

using Steady = std::chrono::steady_clock;

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Fail(ErrorCode::kInvalidArgument, "cannot create a pipe: " + SystemReason(errno));
  }
  Pipe made{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return made;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What posix_spawn wants to know, and frees.
class SpawnSettings {
 public:
  SpawnSettings(int output, int error) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, error, STDERR_FILENO);
    // Libraries do not mark all their descriptors as ours are.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    // Our threads block signals and ignore SIGPIPE, which a program does not expect.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// A process that is killed and reaped if it has not been waited for.
class Child {
 public:
  // By its number: glibc 2.36 declares pidfd_open for C only.
  explicit Child(pid_t pid)
      : pid_(pid), handle_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  ~Child() {
    if (pid_ == 0) return;
    ::kill(-pid_, SIGKILL);
    Wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int handle() const { return handle_.get(); }

  int Wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
  FileDescriptor handle_;  // readable when the process has ended
};

// Takes all that a pipe holds now, up to `limit` bytes and one. Closes it at its end.
void Drain(FileDescriptor& pipe, size_t limit, std::string& out) {
  std::array<char, 16 * 1024> chunk;
  while (pipe.valid()) {
    const ssize_t count = ::read(pipe.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      pipe.Close();
      return;
    }
    out.append(chunk.data(), static_cast<size_t>(count));
    if (out.size() > limit) {
      out.resize(limit + 1);
      return;
    }
  }
}

// "60 s", "200 ms".
std::string Words(std::chrono::milliseconds time) {
  const auto count = time.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

Result<Ended> Follow(Child& child, const Program& program, FileDescriptor output,
                     FileDescriptor error) {
  const auto deadline = Steady::now() + program.deadline;
  Ended ended;
  for (bool running = true; running;) {
    std::array<pollfd, 3> waited = {
        {{child.handle(), POLLIN, 0}, {output.get(), POLLIN, 0}, {error.get(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now());
    if (left.count() <= 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  "did not end within " + Words(program.deadline) + " and was killed");
    }
    ::poll(waited.data(), waited.size(), static_cast<int>(left.count()));
    running = (waited[0].revents & POLLIN) == 0;  // asked before what it wrote last is read
    Drain(output, program.output_limit, ended.output);
    if (ended.output.size() > program.output_limit) {
      return Fail(ErrorCode::kTooLarge, "wrote more than " + std::to_string(program.output_limit) +
                                            " bytes to standard output and was killed");
    }
    Drain(error, program.error_limit, ended.error);
    ended.error.resize(std::min(ended.error.size(), program.error_limit));
  }
  const int status = child.Wait();
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

}  // namespace

Result<Ended> RunProgram(const Program& program) {
  auto output = MakePipe();
  auto error = MakePipe();
  if (!output) return tl::unexpected(std::move(output).error());
  if (!error) return tl::unexpected(std::move(error).error());

  std::vector<std::string> words = {program.command};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  std::vector<std::string> variables = program.environment;
  pid_t pid = 0;
  const SpawnSettings settings(output->write.get(), error->write.get());
  const int failure =
      ::posix_spawnp(&pid, program.command.c_str(), settings.actions(), settings.attributes(),
                     Pointers(words).data(), Pointers(variables).data());
  if (failure == ENOENT) return Fail(ErrorCode::kNotFound, "no such program");
  if (failure != 0) {
    return Fail(ErrorCode::kInvalidArgument, "cannot be started: " + SystemReason(failure));
  }
  Child child(pid);
  if (child.handle() < 0) {
    return Fail(ErrorCode::kInvalidArgument, "cannot be waited for: " + SystemReason(errno));
  }
  output->write.Close();
  error->write.Close();
  return Follow(child, program, std::move(output->read), std::move(error->read));
}

}  // namespace mindgate::kube
