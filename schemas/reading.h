#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/issues.h"
#include "json/value.h"

namespace mindgate::schemas {

// What is found while one document of a file is read: faults, and warnings about what is accepted
// but should be written differently. Each has its place.
class ReadContext {
 public:
  struct LocatedIssue {
    std::string path;  // RFC 6901 pointer; where a missing member belongs
    json::Issue issue;
  };

  // Both must outlive it.
  ReadContext(const json::Json& root, const json::Positions& positions)
      : root_(root), positions_(positions) {}

  void Fault(std::string_view path, std::string message, std::string hint = "");
  void Warn(std::string_view path, std::string message, std::string hint);

  // Finds the one place where the document has such a key, for those that stand in another: "under
  // inference_service". Nothing when there is none, or more than one.
  using FindHome = std::function<std::optional<std::string>(std::string_view key)>;
  void SetFindHome(FindHome find) { find_home_ = std::move(find); }
  std::optional<std::string> HomeOf(std::string_view key) const {
    return find_home_ ? find_home_(key) : std::nullopt;
  }

  json::Position At(std::string_view path) const { return positions_.At(path); }
  size_t fault_count() const { return faults_.size() + dropped_; }

  const std::vector<LocatedIssue>& found_faults() const { return faults_; }  // in the order found
  json::Issues Faults() const;
  json::Issues Warnings() const { return ByPosition(warnings_); }

 private:
  // 20 times what is shown, so that the first faults of nearly every text are among them.
  static constexpr size_t kMaxKept = 20 * json::Issues::kMax;

  LocatedIssue Describe(std::string_view path, std::string message, std::string hint) const;
  static json::Issues ByPosition(std::vector<LocatedIssue> found);

  const json::Json& root_;
  const json::Positions& positions_;
  std::vector<LocatedIssue> faults_;
  std::vector<LocatedIssue> warnings_;
  size_t dropped_ = 0;  // of the faults
  FindHome find_home_;
};

// A value that is read, and its place.
struct Field {
  const json::Json& value;
  std::string path;
  ReadContext& reading;

  void Fault(std::string message, std::string hint = "") const {
    reading.Fault(path, std::move(message), std::move(hint));
  }
};

// What comments there are in JSON text, as far as anybody needs it.
struct JsonComments {
  static constexpr size_t kMaxLines = 8;

  std::optional<json::Position> first;
  std::vector<int> lines;  // on which comments begin, each once, at most kMaxLines
  bool more = false;       // there are some on further lines
  // The text with spaces in the place of comments, so that every other place stays where it was.
  // Nothing when there are none.
  std::optional<std::string> blanked;
};

// Finds comments from "#" or "//" to the end of the line and from "/*" to "*/" outside strings.
// JSON has none, but people copy documented samples that do; a reader that says so and reads on can
// name the other faults too.
JsonComments FindComments(std::string_view text);

// Keys that come twice in one object of a JSON text.
struct RepeatedKeys {
  struct Key {
    json::Position at;      // of the one that counts
    std::string_view name;  // as written, a view of the text
  };
  std::vector<Key> keys;
  // The text with spaces in the place of the earlier members, so that every other place stays where
  // it was.
  std::string blanked;
};

// Go's decoder takes the last member of a name. Finds nothing in text that is not JSON, or is
// nested deeper than 64.
RepeatedKeys FindRepeatedKeys(std::string_view text);

}  // namespace mindgate::schemas
