#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "json/patch.h"
#include "schemas/workload.h"

namespace mindgate::mutators {

// One thing that was added, and why; for people.
struct Change {
  std::string mutator;
  std::string path;  // RFC 6901; the last token is "-" for an appended list item
  std::string reason;
  bool operator==(const Change&) const = default;
};

// Something that a mutator considered but left unchanged, and why; shown by `explain`.
struct Withheld {
  std::string mutator;
  std::string path;
  std::string reason;
};

// Collects what mutators want to write into one object, each place once, and turns it into a
// minimal JSON Patch. The object itself is not touched; a later mutator sees earlier ones through
// Pending*.
class Edits {
 public:
  explicit Edits(const json::Value& object) : object_(object) {}

  // Sets who is writing from now on.
  void Begin(std::string_view mutator) { mutator_ = mutator; }

  // Sets member `key` of the map at `map.path`. Missing parents are created. Ignored when the
  // member or a parent is there with another type (the API server refuses such an object; a rule
  // says so) or when it was already set here.
  void Set(const schemas::Place& map, std::string_view key, json::Json value, std::string reason);

  // Appends to the list at `list.path`; the list is created when missing. At most one item a list.
  void Append(const schemas::Place& list, json::Json value, std::string reason);

  void Withhold(std::string path, std::string reason);

  // The request was over before every mutator had run.
  void GiveUp() { gave_up_ = true; }
  bool gave_up() const { return gave_up_; }

  // What Set wrote to member `key` of the map at `map_path`; null pointer when nothing.
  const json::Json* Pending(std::string_view map_path, std::string_view key) const;

  // A template's effective label or annotation once these edits are applied; nothing when absent or
  // no string.
  std::optional<std::string_view> Label(const schemas::PodTemplateView& pod,
                                        std::string_view key) const;
  std::optional<std::string_view> Annotation(const schemas::PodTemplateView& pod,
                                             std::string_view key) const;

  bool empty() const { return writes_.empty(); }
  const std::vector<Withheld>& withheld() const { return withheld_; }

  // In the order of BuildPatch.
  std::vector<Change> Changes() const;

  // Sorted by path. An absent (or null) parent is added once with all that goes below it; what
  // exists with another value (a built-in kind's default-scheduler) is replaced.
  std::vector<json::Operation> BuildPatch() const;

 private:
  struct Write {
    std::string mutator;
    std::string reason;
    json::Json value;
    size_t reach;   // the part of the path up to the first token that is missing from the object
    bool replaces;  // nothing of the path is missing
  };

  const json::Value& object_;
  std::string mutator_;
  std::map<std::string, Write, std::less<>> writes_;  // by path
  std::vector<Withheld> withheld_;
  bool gave_up_ = false;
};

}  // namespace mindgate::mutators
