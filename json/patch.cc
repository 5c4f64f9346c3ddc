#include "json/patch.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/limits.h"
#include "json/pointer.h"

namespace mindgate::json {
namespace {

using Path = std::vector<std::string>;

std::string Pointer(std::span<const std::string> path) {
  std::string out;
  for (const std::string& token : path) out = Child(out, token);
  return out;
}

// Values in a tree and how deep objects and lists are nested in it, without recursion.
struct Size {
  size_t values = 0;
  size_t depth = 0;
};

Size Measure(const Json& value) {
  if (!value.is_structured()) return {1, 0};
  Size size;
  std::vector<std::pair<const Json*, size_t>> todo = {{&value, 0}};
  while (!todo.empty()) {
    const auto [next, depth] = todo.back();
    todo.pop_back();
    ++size.values;
    if (next->is_structured()) size.depth = std::max(size.depth, depth + 1);
    for (const Json& item : *next) {
      if (next->is_structured()) todo.emplace_back(&item, depth + 1);
    }
  }
  return size;
}

// Applies steps to a tree and can take them all back. Every step either happens whole or not at
// all.
class Editor {
 public:
  explicit Editor(Json& root) : root_(root) {}

  Result<void> Add(const Path& path, const Json& value) {
    // Before the copy, which recurses.
    if (auto fits = CheckDepth(path, value); !fits) return fits;
    return Insert(path, value);
  }

  Result<void> Replace(const Path& path, const Json& value) {
    if (auto fits = CheckDepth(path, value); !fits) return fits;
    auto target = Existing(path);
    if (!target) return tl::unexpected(target.error());
    return Swap(**target, path, value);
  }

  // Gives what was removed.
  Result<Json> Remove(const Path& path) {
    if (path.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "the whole document cannot be removed");
    }
    auto target = Existing(path);
    if (!target) return tl::unexpected(target.error());
    Json removed = std::move(**target);
    Json* parent = Find(std::span(path).first(path.size() - 1));
    if (auto* object = parent->get_ptr<Json::object_t*>()) {
      object->erase(path.back());
    } else {
      auto& list = *parent->get_ptr<Json::array_t*>();
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(*ListIndex(path.back())));
    }
    undo_.push_back({Undo::Kind::kInsert, path, removed});
    return removed;
  }

  Result<void> Move(const Path& from, const Path& path) {
    if (from.size() < path.size() && std::equal(from.begin(), from.end(), path.begin())) {
      return Fail(ErrorCode::kInvalidArgument, "a value cannot be moved into itself");
    }
    const auto source = Existing(from);
    if (!source) return tl::unexpected(source.error());
    if (auto fits = CheckDepth(path, **source); !fits) return fits;
    auto removed = Remove(from);
    if (!removed) return tl::unexpected(removed.error());
    return Insert(path, *std::move(removed));
  }

  Result<void> Copy(const Path& from, const Path& path) {
    auto source = Existing(from);
    if (!source) return tl::unexpected(source.error());
    // Copies of copies grow without bound otherwise.
    copied_ += Measure(**source).values;
    if (copied_ > Limits{}.elements) {
      return Fail(ErrorCode::kTooLarge,
                  "copies more than " + std::to_string(Limits{}.elements) + " values");
    }
    return Add(path, **source);
  }

  Result<void> Test(const Path& path, const Json& value) {
    auto target = Existing(path);
    if (!target) return tl::unexpected(target.error());
    if (**target == value) return {};
    return Fail(ErrorCode::kInvalidArgument, "the value differs");
  }

  void TakeBack() {
    for (; !undo_.empty(); undo_.pop_back()) {
      Undo& step = undo_.back();
      if (step.path.empty()) {
        root_ = std::move(step.value);
        continue;
      }
      Json* parent = Find(std::span(step.path).first(step.path.size() - 1));
      const std::string& last = step.path.back();
      if (auto* object = parent->get_ptr<Json::object_t*>()) {
        if (step.kind == Undo::Kind::kRemove) {
          object->erase(last);
        } else {
          object->insert_or_assign(last, std::move(step.value));
        }
        continue;
      }
      auto& list = *parent->get_ptr<Json::array_t*>();
      const auto place = list.begin() + static_cast<std::ptrdiff_t>(*ListIndex(last));
      switch (step.kind) {
        case Undo::Kind::kRemove:
          list.erase(place);
          break;
        case Undo::Kind::kInsert:
          list.insert(place, std::move(step.value));
          break;
        case Undo::Kind::kAssign:
          *place = std::move(step.value);
          break;
      }
    }
  }

 private:
  // What takes one step back. A list's index is a number here, never "-".
  struct Undo {
    enum class Kind { kRemove, kInsert, kAssign };
    Kind kind;
    Path path;
    Json value;
  };

  Result<void> Insert(const Path& path, Json value) {
    if (path.empty()) return Swap(root_, path, std::move(value));
    auto parent = Container(path);
    if (!parent) return tl::unexpected(parent.error());
    const std::string& last = path.back();
    if (auto* object = (*parent)->get_ptr<Json::object_t*>()) {
      const auto found = object->find(last);
      if (found != object->end()) return Swap(found->second, path, std::move(value));
      object->emplace(last, std::move(value));
      undo_.push_back({Undo::Kind::kRemove, path, nullptr});
      return {};
    }
    auto& list = *(*parent)->get_ptr<Json::array_t*>();
    const auto index = last == "-" ? list.size() : ListIndex(last);
    if (!index || *index > list.size()) return NoItem(path, list.size());
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    Path place = path;
    place.back() = std::to_string(*index);
    undo_.push_back({Undo::Kind::kRemove, std::move(place), nullptr});
    return {};
  }

  Json* Find(std::span<const std::string> path) {
    Json* value = &root_;
    for (const std::string& token : path) {
      if (auto* object = value->get_ptr<Json::object_t*>()) {
        const auto found = object->find(token);
        if (found == object->end()) return nullptr;
        value = &found->second;
      } else if (auto* list = value->get_ptr<Json::array_t*>()) {
        const auto index = ListIndex(token);
        if (!index || *index >= list->size()) return nullptr;
        value = &(*list)[*index];
      } else {
        return nullptr;
      }
    }
    return value;
  }

  Result<Json*> Existing(const Path& path) {
    if (Json* value = Find(path)) return value;
    return Fail(ErrorCode::kNotFound, "there is no " + Quote(Pointer(path)));
  }

  // The object or list that holds, or would hold, `path`.
  Result<Json*> Container(const Path& path) {
    const auto parent = std::span(path).first(path.size() - 1);
    Json* value = Find(parent);
    if (value == nullptr) {
      return Fail(ErrorCode::kNotFound, "there is no " + Quote(Pointer(parent)));
    }
    if (value->is_structured()) return value;
    return Fail(ErrorCode::kInvalidArgument,
                Quote(Pointer(parent)) + " is neither an object nor a list");
  }

  Result<void> NoItem(const Path& path, size_t size) {
    return Fail(ErrorCode::kNotFound, Quote(path.back()) + " is not a position in a list of " +
                                          std::to_string(size) + " items");
  }

  Result<void> CheckDepth(const Path& path, const Json& value) {
    if (path.size() + Measure(value).depth <= Limits{}.depth) return {};
    return Fail(ErrorCode::kTooLarge, "objects and lists would be nested deeper than " +
                                          std::to_string(Limits{}.depth) + " levels");
  }

  Result<void> Swap(Json& slot, const Path& path, Json value) {
    undo_.push_back({Undo::Kind::kAssign, path, std::exchange(slot, std::move(value))});
    return {};
  }

  Json& root_;
  std::vector<Undo> undo_;
  size_t copied_ = 0;
};

Result<Path> ParsePath(const std::string& pointer) {
  auto tokens = Tokens(pointer);
  if (tokens) return *std::move(tokens);
  return Fail(ErrorCode::kInvalidArgument, Quote(pointer) + " is not a JSON pointer");
}

Result<void> ApplyOne(Editor& editor, const Operation& operation) {
  auto path = ParsePath(operation.path);
  if (!path) return tl::unexpected(path.error());
  return operation.kind == Operation::Kind::kAdd ? editor.Add(*path, operation.value)
                                                 : editor.Replace(*path, operation.value);
}

// A member that an operation must have as text.
Result<std::string> Text(const Json& operation, std::string_view name) {
  if (const auto text = FindString(operation, name)) return std::string(*text);
  return Fail(ErrorCode::kInvalidArgument, Quote(name) + " is missing or not a string");
}

Result<void> ApplyOne(Editor& editor, const Json& operation) {
  if (!operation.is_object()) {
    return Fail(ErrorCode::kInvalidArgument, "an operation must be an object");
  }
  const auto op = Text(operation, "op");
  if (!op) return tl::unexpected(op.error());
  const auto path = Text(operation, "path").and_then(ParsePath);
  if (!path) return tl::unexpected(path.error());
  if (*op == "remove") {
    const auto removed = editor.Remove(*path);
    if (!removed) return tl::unexpected(removed.error());
    return {};
  }
  if (*op == "move" || *op == "copy") {
    const auto from = Text(operation, "from").and_then(ParsePath);
    if (!from) return tl::unexpected(from.error());
    return *op == "move" ? editor.Move(*from, *path) : editor.Copy(*from, *path);
  }
  if (*op != "add" && *op != "replace" && *op != "test") {
    return Fail(ErrorCode::kInvalidArgument, "unknown operation " + Quote(*op));
  }
  const auto value = operation.find("value");  // which may be null
  if (value == operation.end()) {
    return Fail(ErrorCode::kInvalidArgument, "\"value\" is missing");
  }
  if (*op == "add") return editor.Add(*path, *value);
  if (*op == "replace") return editor.Replace(*path, *value);
  return editor.Test(*path, *value);
}

template <typename Operations>
Result<void> ApplyAll(Json& target, const Operations& operations) {
  Editor editor(target);
  size_t number = 0;
  for (const auto& operation : operations) {
    ++number;
    auto applied = ApplyOne(editor, operation);
    if (applied) continue;
    editor.TakeBack();
    return tl::unexpected(
        std::move(applied.error()).While("applying operation " + std::to_string(number)));
  }
  return {};
}

}  // namespace

Json ToJsonPatch(std::span<const Operation> operations) {
  Json patch = Json::array();
  for (const Operation& operation : operations) {
    Json& entry = patch.emplace_back(Json::object());
    entry["op"] = operation.kind == Operation::Kind::kAdd ? "add" : "replace";
    entry["path"] = operation.path;
    entry["value"] = operation.value;
  }
  return patch;
}

Result<void> ApplyPatch(Json& target, std::span<const Operation> operations) {
  return ApplyAll(target, operations);
}

Result<void> ApplyPatch(Json& target, const Json& patch) {
  if (!patch.is_array()) {
    return Fail(ErrorCode::kInvalidArgument, "a JSON patch must be a list of operations");
  }
  return ApplyAll(target, patch);
}

}  // namespace mindgate::json
