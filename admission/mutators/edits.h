#pragma once

#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "json/arena.h"
#include "json/pointer.h"
#include "schemas/workload.h"

namespace mindgate::mutators {

// One thing that was added, and why; for people. Names and reasons are texts of the program; paths
// live as long as a patch of the same edits.
struct Change {
  std::string_view mutator;
  std::string_view path;  // RFC 6901; the last token is "-" for an appended list item
  std::string_view reason;
  bool operator==(const Change&) const = default;
};

// Something that a mutator considered but left unchanged, and why; shown by `explain`.
struct Withheld {
  std::string_view mutator;
  std::string path;
  std::string reason;
};

// Collects what mutators want to write into one object, each place once, and turns it into a
// minimal JSON Patch. The object itself is not touched; a later mutator sees earlier ones through
// Pending, Label and Annotation. Keys, values and reasons are borrowed: they are the program's, the
// object's, the configuration's, or kept in the arena.
class Edits {
 public:
  // Without `explain`, what is withheld is forgotten.
  explicit Edits(const json::Value& object, bool explain = true);

  // Sets who is writing from now on.
  void Begin(std::string_view mutator) { mutator_ = mutator; }

  // Sets member `key` of the map at `map.path`. Missing parents are created. Ignored when the
  // member or a parent is there with another type (the API server refuses such an object; a rule
  // says so) or when it was already set here.
  void Set(const schemas::FieldView& map, std::string_view key, const json::Value& value,
           std::string_view reason);
  void Set(const schemas::FieldView& map, std::string_view key, std::string_view text,
           std::string_view reason) {
    Set(map, key, json::Value::OfText(text), reason);
  }

  // Appends to the list at `list.path`; the list is created when missing. At most one item a list.
  void Append(const schemas::FieldView& list, const json::Value& item, std::string_view reason);

  // Replaces what the object has at `path`, of whichever type, also while only what is stored may
  // be put back. Ignored when it has nothing there. Nothing else may be written below `path`.
  void Replace(const schemas::Pointer& path, const json::Value& value, std::string_view reason);

  // For values that are made for a write. Lives as long as the edits.
  json::Arena& arena() { return *arena_; }

  void Withhold(const schemas::Pointer& path, std::string_view reason);
  void Withhold(const schemas::FieldView& map, std::string_view key, std::string_view reason);

  // From now on a write only puts back what `stored`, the object before an update, has at the same
  // place: the value there, if it is what would be written or what the API server made of it. For
  // what cannot change after creation. Without `of_metadata` nothing of the object's own metadata,
  // which can change.
  void PutBackFrom(const json::Value& stored, bool of_metadata);

  // The request was over before every mutator had run.
  void GiveUp() { gave_up_ = true; }
  bool gave_up() const { return gave_up_; }

  // What Set wrote to member `key` of the map; null pointer when nothing.
  const json::Value* Pending(const schemas::FieldView& map, std::string_view key) const;

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
  json::Patch BuildPatch() const;

 private:
  struct Write {
    std::string_view mutator;
    std::string_view reason;
    json::Value value;
    size_t reach = 0;  // the part of the path up to the first token that is missing from the object
    bool replaces = false;  // nothing of the path is missing
  };

  struct PutBack {
    const json::Value* stored = nullptr;  // null pointer: everything may be written
    bool of_metadata = true;
  };

  // What may be written to a path, or appended to a list; null pointer when nothing may.
  const json::Value* Allowed(std::string_view path, const json::Value& value) const;
  const json::Value* AllowedItem(std::string_view list, const json::Value& item) const;
  bool MayPutBack(std::string_view path) const;
  // The path of a member, spelled where the next one will be.
  std::string_view Spell(const schemas::Pointer& map, std::string_view key) const;
  void Add(std::string_view path, const Write& write);
  // One value of all writes from `first` to `last`, whose paths agree up to `depth`.
  using Writes = std::pmr::map<std::string_view, Write>;
  json::Value Below(Writes::const_iterator first, Writes::const_iterator last, size_t depth) const;

  const json::Value& object_;
  const bool explain_;
  std::string_view mutator_;
  PutBack put_back_;
  std::shared_ptr<json::Arena> arena_;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> nodes_;
  Writes writes_;               // by path, which is in the arena
  schemas::KeyFilter written_;  // the keys of Set
  mutable std::string spelled_;
  std::vector<Withheld> withheld_;
  bool gave_up_ = false;
};

}  // namespace mindgate::mutators
