#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/fake_status.h"

namespace mindgate::kube::testing {

// Which objects a list or watch is about.
class Selectors {
 public:
  // As query parameters have them: labels by "a=b", "a!=b", "a in (b,c)", "a notin (b,c)", "a",
  // "!a"; fields by "a=b" and "a!=b" of `known_fields`. Refused with 400: anything else.
  static Outcome<Selectors> Parse(const std::string& labels, const std::string& fields,
                                  const std::vector<std::string>& known_fields);
  // The labelSelector of an object: matchLabels and matchExpressions.
  static Selectors FromObject(const Json& selector);

  bool Matches(const Json& object) const;
  bool empty() const { return labels_.empty() && fields_.empty(); }

 private:
  enum class Operator { kIn, kNotIn, kExists, kAbsent };
  struct Requirement {
    std::string key;  // of a label; path of a field: "spec.nodeName"
    Operator op;
    std::vector<std::string> values = {};
  };

  static Outcome<Requirement> ParseLabel(std::string_view text);

  std::vector<Requirement> labels_;
  std::vector<Requirement> fields_;
};

}  // namespace mindgate::kube::testing
