#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cel/program.h"
#include "json/issues.h"
#include "json/yaml.h"
#include "policies/site/objects.h"

namespace mindgate::policies::site {

// One text with policies: a file, or an entry of a ConfigMap.
struct PolicyText {
  std::string name;  // of the file, for messages
  std::string text;
  // A folder holds other files, too: what is no object of Kubernetes is then left out.
  bool found_in_folder = false;
  bool operator==(const PolicyText&) const = default;
};

// Where expressions of one document stand.
struct WrittenIn {
  const PolicyText& file;
  const json::YamlDocument& document;
};

// One compiled expression that knows where it was written.
class Expression {
 public:
  // A faulty one has its issues at their places in the file.
  static std::optional<Expression> Compile(const WrittenExpression& written, const WrittenIn& in,
                                           const cel::Environment& environment,
                                           json::Issues& issues);

  const cel::Program& program() const { return program_; }
  // "queues.yaml:12", of a line in it.
  std::string Where(json::Position within) const;

 private:
  Expression(cel::Program program, const WrittenIn& in, json::Position at);

  cel::Program program_;
  std::string file_;
  std::vector<int> lines_;  // of the file, for each line of it
};

}  // namespace mindgate::policies::site
