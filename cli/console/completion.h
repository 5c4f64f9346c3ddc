#pragma once

#include <string>

namespace mindgate::cli {

// kKubectl is the program that kubectl calls to complete `kubectl mindgate ...`.
enum class Shell { kBash, kZsh, kFish, kKubectl };

// The script that makes a shell use `mindgate __complete`.
std::string CompletionScript(Shell shell);

}  // namespace mindgate::cli
