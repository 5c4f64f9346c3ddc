#pragma once

#include <string>

namespace CLI {
class App;
}

namespace mindgate::cli {

enum class Shell { kBash, kZsh, kFish };

// A completion script for a program and all its subcommands.
std::string CompletionScript(const CLI::App& app, Shell shell);

}  // namespace mindgate::cli
