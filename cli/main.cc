#include <unistd.h>

#include <cerrno>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "cli/console/commands.h"
#include "cli/console/terminal.h"

#ifdef MINDGATE_MIMALLOC
#include <mimalloc.h>
#endif

int main(int argc, char** argv) {
#ifdef MINDGATE_MIMALLOC
  // What a burst of large reviews took goes back to the system at once and not when its threads
  // allocate again: 88 MiB at the peak of `make soak` instead of 131, at no cost that can be
  // measured.
  mi_option_set(mi_option_decommit_delay, 0);
#endif
  std::ios::sync_with_stdio(false);
  const bool out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  mindgate::cli::Streams io{std::cin,
                            std::cout,
                            std::cerr,
                            out_is_terminal,
                            ::isatty(STDERR_FILENO) == 1,
                            mindgate::cli::TerminalWidth(out_is_terminal, STDOUT_FILENO),
                            ::isatty(STDIN_FILENO) == 1,
                            STDIN_FILENO};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  int exit_code = mindgate::cli::kExitUnusable;
  try {
    exit_code =
        mindgate::cli::Run(arguments, io, mindgate::cli::ProgramName(argc > 0 ? argv[0] : ""));
  } catch (const std::exception& bug) {
    mindgate::PrintError(io.err, std::string("internal error: ") + bug.what(),
                         "this is a bug of mindgate; please report it with the command line and "
                         "its input");
  }
  // A full disk must not look like success.
  errno = 0;
  std::cout.flush();
  if (std::cout) return exit_code;
  const std::string reason = errno == 0 ? "" : ": " + mindgate::SystemReason(errno);
  std::cerr << "error: cannot write to standard output" << reason << "\n"
            << "hint: the output is incomplete; free disk space, or write to another file\n";
  return mindgate::cli::kExitUnusable;
}
