#include "json/patch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"

namespace mindgate::json {
namespace {

std::string_view NameOf(Operation::Kind kind) {
  return kind == Operation::Kind::kAdd ? "add" : "replace";
}

struct Target {
  std::vector<std::string> tokens;
  const Operation* operation = nullptr;
};

tl::unexpected<Error> Refused(const Target& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, Quote(step.operation->path) + " " + std::string(why));
}

// Applies steps that agree in their first `depth` tokens, in the order of their tokens.
class Rebuilder {
 public:
  explicit Rebuilder(Arena& arena) : arena_(arena) {}

  Result<Value> Rebuild(const Value& value, std::span<const Target> steps, size_t depth) {
    if (steps.front().tokens.size() == depth) {
      return CopyOf(steps.front().operation->value, arena_);
    }
    if (value.is_object()) return Object(value, steps, depth);
    if (value.is_array()) return List(value, steps, depth);
    return Refused(steps.front(), "leads through a value that is neither an object nor a list");
  }

 private:
  // The steps at the front that agree in the token at `depth`.
  static std::span<const Target> TakeGroup(std::span<const Target>& steps, size_t depth) {
    const std::string& token = steps.front().tokens[depth];
    size_t count = 1;
    while (count < steps.size() && steps[count].tokens[depth] == token) ++count;
    const auto group = steps.first(count);
    steps = steps.subspan(count);
    return group;
  }

  Result<Value> Object(const Value& value, std::span<const Target> steps, size_t depth) {
    const auto members = value.members();
    Member* const row = arena_.Row<Member>(members.size() + steps.size());
    std::copy(members.begin(), members.end(), row);
    size_t count = members.size();
    while (!steps.empty()) {
      const auto group = TakeGroup(steps, depth);
      const std::string& token = group.front().tokens[depth];
      const bool is_target = group.front().tokens.size() == depth + 1;
      const Value* found = value.Lookup(token);
      if (found == nullptr) {
        if (!is_target || group.front().operation->kind != Operation::Kind::kAdd) {
          return Refused(group.front(), "is not there: " + Quote(token) + " is missing");
        }
        row[count++] = {arena_.Text(token), CopyOf(group.front().operation->value, arena_)};
        continue;
      }
      auto rebuilt = Rebuild(*found, group, depth + 1);
      if (!rebuilt) return rebuilt;
      const auto at = value.MembersFrom(token).data() - members.data();
      row[at].value = *rebuilt;
    }
    SortMembers({row, count});
    return Value::OfMembers({row, count});
  }

  Result<Value> List(const Value& value, std::span<const Target> steps, size_t depth) {
    Value* const row = arena_.Row<Value>(value.size() + steps.size());
    std::copy(value.begin(), value.end(), row);
    size_t count = value.size();
    while (!steps.empty()) {
      const auto group = TakeGroup(steps, depth);
      const std::string& token = group.front().tokens[depth];
      if (token == "-") {
        for (const Target& step : group) {
          if (step.tokens.size() != depth + 1) return Refused(step, "leads below a new item");
          row[count++] = CopyOf(step.operation->value, arena_);
        }
        continue;
      }
      const auto index = ListIndex(token);
      if (!index || *index >= value.size()) {
        return Refused(group.front(),
                       "is not there: the list has " + std::to_string(value.size()) + " items");
      }
      auto rebuilt = Rebuild(value[*index], group, depth + 1);
      if (!rebuilt) return rebuilt;
      row[*index] = *rebuilt;
    }
    return Value::OfItems({row, count});
  }

  Arena& arena_;
};

}  // namespace

Json ToJsonPatch(std::span<const Operation> operations) {
  Json patch = Json::array();
  for (const Operation& operation : operations) {
    Json& entry = patch.emplace_back(Json::object());
    entry["op"] = NameOf(operation.kind);
    entry["path"] = operation.path;
    entry["value"] = TreeOf(operation.value);
  }
  return patch;
}

std::string PatchText(std::span<const Operation> operations) {
  std::string text = "[";
  for (const Operation& operation : operations) {
    if (text.size() > 1) text += ',';
    text += R"({"op":")";
    text += NameOf(operation.kind);
    text += R"(","path":)";
    AppendDump(Value::OfText(operation.path), text);
    text += R"(,"value":)";
    AppendDump(operation.value, text);
    text += '}';
  }
  return text += ']';
}

Result<Value> ApplyPatch(const Value& value, std::span<const Operation> operations, Arena& arena) {
  if (operations.empty()) return value;
  std::vector<Target> steps;
  steps.reserve(operations.size());
  for (const Operation& operation : operations) {
    auto tokens = Tokens(operation.path);
    if (!tokens) {
      return Fail(ErrorCode::kInvalidArgument, Quote(operation.path) + " is not a JSON pointer");
    }
    steps.push_back({*std::move(tokens), &operation});
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Target& a, const Target& b) { return a.tokens < b.tokens; });
  return Rebuilder(arena).Rebuild(value, steps, 0);
}

}  // namespace mindgate::json
