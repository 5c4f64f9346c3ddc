#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace mindgate::cli {

// What is wrong with arguments that cannot be used, and what to write instead.
struct ArgumentFault {
  std::string what;
  std::string hint;
};

// `app` is the program, whose command was chosen as far as the arguments say, and `words` are the
// arguments, for which `failure` was thrown.
ArgumentFault Explain(const CLI::App& app, const CLI::ParseError& failure,
                      const std::vector<std::string>& words);

// Whether a word is the name of a manifest's file: "chat.yaml". A key may hold a slash as well.
bool IsFile(const std::string& word);

}  // namespace mindgate::cli
