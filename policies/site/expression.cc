#include "policies/site/expression.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "json/pointer.h"
#include "json/text_places.h"

namespace mindgate::policies::site {
namespace {

// Names that are there in other places of a policy, or in other policies.
void ExplainMissing(json::Issue& issue) {
  if (issue.message == "undeclared reference to 'variables'") {
    issue.hint = "declare it under variables, above what reads it; matchConditions read none";
  } else if (issue.message == "undeclared reference to 'params'") {
    issue.hint = "give the policy a paramKind";
  }
}

}  // namespace

Expression::Expression(cel::Program program, const WrittenIn& in, json::Position at)
    : program_(std::move(program)), file_(in.file.name) {
  const std::string& text = program_.text();
  std::vector<size_t> lines = {0};
  for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1)) {
    lines.push_back(end + 1);
  }
  for (const json::Position& place : json::PlacesInScalar(in.file.text, at, text, lines)) {
    lines_.push_back(place.line);
  }
}

std::optional<Expression> Expression::Compile(const WrittenExpression& written, const WrittenIn& in,
                                              const cel::Environment& environment,
                                              json::Issues& issues) {
  const json::Position at = in.document.positions.At(written.path);
  auto program = cel::Compile(written.text, environment);
  if (program) return Expression(*std::move(program), in, at);
  for (json::Issue issue : program.error().items()) {
    issue.at = json::PlaceInScalar(in.file.text, at, written.text, issue.at);
    issue.field = json::FieldPath(in.document.value, written.path);
    ExplainMissing(issue);
    issues.Add(std::move(issue));
  }
  return std::nullopt;
}

std::string Expression::Where(json::Position within) const {
  const size_t line = within.line < 1 ? 0 : static_cast<size_t>(within.line) - 1;
  return file_ + ":" + std::to_string(lines_[std::min(line, lines_.size() - 1)]);
}

}  // namespace mindgate::policies::site
