#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace mindgate::testing {

using Variables = std::map<std::string, std::optional<std::string>>;

// Variables of the environment that are set, or with nullopt unset, while this lives.
class ChangedEnvironment {
 public:
  explicit ChangedEnvironment(const Variables& variables) {
    for (const auto& [name, value] : variables) {
      const char* old = std::getenv(name.c_str());
      before_[name] = old == nullptr ? std::nullopt : std::optional<std::string>(old);
      Set(name, value);
    }
  }
  ~ChangedEnvironment() {
    for (const auto& [name, value] : before_) Set(name, value);
  }
  ChangedEnvironment(const ChangedEnvironment&) = delete;
  ChangedEnvironment& operator=(const ChangedEnvironment&) = delete;

 private:
  static void Set(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }

  Variables before_;
};

}  // namespace mindgate::testing
