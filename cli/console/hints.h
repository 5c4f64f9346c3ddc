#pragma once

#include <string>
#include <vector>

#include "base/problem.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace mindgate::cli {

// What is wrong with arguments that cannot be used. `app` is the program, whose command was chosen
// as far as the arguments say, and `words` are the arguments, for which `failure` was thrown.
Problem Explain(const CLI::App& app, const CLI::ParseError& failure,
                const std::vector<std::string>& words);

// Whether a word is the name of a manifest's file: "chat.yaml". A key may hold a slash as well.
bool IsFile(const std::string& word);

// The arguments of `status` and `delete` as the deploy tool of mindcluster-deploy takes them in
// ours: there -n and --app-name name the application and -ns the namespace. CLI11, like every
// parser of POSIX flags, reads -ns as -n with the value "s". Arguments with neither -ns nor
// --app-name are left alone: in those -n is the namespace, as in kubectl.
std::vector<std::string> WithoutOldFlags(const std::vector<std::string>& arguments);

}  // namespace mindgate::cli
