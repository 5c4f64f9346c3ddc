#pragma once

#include <string>

namespace mindgate::cli {

// kKubectl: the program that kubectl calls to complete `kubectl mindgate ...`.
enum class Shell { kBash, kZsh, kFish, kKubectl };

// What a shell needs to offer what `mindgate __complete` prints.
std::string CompletionScript(Shell shell);

}  // namespace mindgate::cli
