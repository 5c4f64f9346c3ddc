#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "cli/commands.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  mindgate::cli::Streams io{std::cin, std::cout, std::cerr, ::isatty(STDOUT_FILENO) == 1,
                            ::isatty(STDERR_FILENO) == 1};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const int exit_code = mindgate::cli::Run(arguments, io);
  // A full disk or a closed pipe must not look like success.
  std::cout.flush();
  return std::cout ? exit_code : mindgate::cli::kExitUnusable;
}
