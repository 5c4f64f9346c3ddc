#include "admission/mutators/edits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "json/pointer.h"

namespace mindgate::mutators {
namespace {

using json::Value;

// A place that no adapter has set. What is written there would be written at the root.
bool IsNowhere(const schemas::FieldView& place) {
  return place.path.size() == 0 && place.value == nullptr;
}

// How much of a path exists in an object.
struct Reach {
  size_t length = 0;               // up to the end of the first token that is missing or null
  const Value* holder = nullptr;   // what holds that token
  const Value* present = nullptr;  // null pointer: something is missing
};

Reach Follow(const Value& object, std::string_view path) {
  Reach reach{0, nullptr, &object};
  while (reach.length < path.size()) {
    const size_t begin = reach.length;
    reach.length = json::TokenEnd(path, begin);
    reach.holder = reach.present;
    reach.present = json::Resolve(*reach.holder, path.substr(begin, reach.length - begin));
    if (reach.present != nullptr && reach.present->is_null()) reach.present = nullptr;
    if (reach.present == nullptr) break;
  }
  return reach;
}

// Whether such a value may stand at the path: every parent that exists is a map there, and what
// stands there already (a default of the API server) has the same type.
bool Fits(const Reach& reach, Value::Type type) {
  return reach.present != nullptr ? reach.present->type() == type : reach.holder->is_object();
}

// Whether a stored value is the one that was written, with or without members that the API server
// added (fieldRef.apiVersion).
bool Completes(const Value& stored, const Value& written) {
  if (!stored.is_object() || !written.is_object()) return stored == written;
  return std::all_of(written.members().begin(), written.members().end(),
                     [&stored](const json::Member& member) {
                       const Value* same = stored.Lookup(member.key);
                       return same != nullptr && Completes(*same, member.value);
                     });
}

std::optional<std::string_view> PendingFirst(const Value* pending,
                                             std::optional<std::string_view> stored) {
  return pending != nullptr ? json::AsString(pending) : stored;
}

// The writes of one object of a few templates, about.
constexpr size_t kFirstBlock = 2 * 1024;

}  // namespace

Edits::Edits(const Value& object, bool explain)
    : object_(object),
      explain_(explain),
      arena_(std::make_shared<json::Arena>(kFirstBlock)),
      nodes_(std::make_unique<std::pmr::monotonic_buffer_resource>(kFirstBlock)),
      writes_(nodes_.get()) {}

void Edits::PutBackFrom(const Value& stored, bool of_metadata) {
  put_back_ = {&stored, of_metadata};
}

bool Edits::MayPutBack(std::string_view path) const {
  return put_back_.of_metadata || !path.starts_with("/metadata/");
}

const Value* Edits::Allowed(std::string_view path, const Value& value) const {
  if (put_back_.stored == nullptr) return &value;
  if (!MayPutBack(path)) return nullptr;
  const Value* stored = json::Resolve(*put_back_.stored, path);
  return stored != nullptr && Completes(*stored, value) ? stored : nullptr;
}

const Value* Edits::AllowedItem(std::string_view list, const Value& item) const {
  if (put_back_.stored == nullptr) return &item;
  if (!MayPutBack(list)) return nullptr;
  const Value* stored = json::Resolve(*put_back_.stored, list);
  if (!json::IsArray(stored)) return nullptr;
  const auto found = std::find_if(stored->begin(), stored->end(), [&item](const Value& candidate) {
    return Completes(candidate, item);
  });
  return found == stored->end() ? nullptr : &*found;
}

std::string_view Edits::Spell(const schemas::Pointer& map, std::string_view key) const {
  spelled_.clear();
  spelled_ += map.above;
  spelled_ += map.below;
  schemas::AppendToken(key, spelled_);
  return spelled_;
}

void Edits::Add(std::string_view path, const Write& write) {
  const auto place = writes_.lower_bound(path);
  if (place != writes_.end() && place->first == path) return;
  writes_.emplace_hint(place, arena_->Text(path), write);
}

void Edits::Set(const schemas::FieldView& map, std::string_view key, const Value& value,
                std::string_view reason) {
  if (map.wrong_type || IsNowhere(map)) return;
  const std::string_view path = Spell(map.path, key);
  const Value* const allowed = Allowed(path, value);
  if (allowed == nullptr) return;
  // The map's own value is the end of the way to it.
  const bool known = map.value != nullptr && map.value->is_object();
  const Reach reach = known ? Reach{path.size(), map.value, map.Find(key)} : Follow(object_, path);
  if (!Fits(reach, allowed->type())) return;
  Add(path, {mutator_, reason, *allowed, reach.length, reach.present != nullptr});
  written_.Add(key);
}

void Edits::Append(const schemas::FieldView& list, const Value& item, std::string_view reason) {
  if (list.wrong_type || IsNowhere(list)) return;
  const std::string_view path = Spell(list.path, "-");
  const std::string_view list_path = path.substr(0, path.size() - 2);
  const Value* const allowed = AllowedItem(list_path, item);
  if (allowed == nullptr) return;
  const bool known = list.value != nullptr && list.value->is_array();
  const Reach reach =
      known ? Reach{list_path.size(), nullptr, list.value} : Follow(object_, list_path);
  if (!Fits(reach, Value::Type::kList)) return;
  const size_t length = reach.present != nullptr ? path.size() : reach.length;
  Add(path, {mutator_, reason, *allowed, length, false});
}

void Edits::Replace(const schemas::Pointer& path, const Value& value, std::string_view reason) {
  const std::string text = path;
  if (Follow(object_, text).present == nullptr) return;
  Add(text, {mutator_, reason, value, text.size(), true});
}

void Edits::Withhold(const schemas::Pointer& path, std::string_view reason) {
  if (explain_) withheld_.push_back({mutator_, path, std::string(reason)});
}

void Edits::Withhold(const schemas::FieldView& map, std::string_view key, std::string_view reason) {
  if (explain_) withheld_.push_back({mutator_, map.path.Child(key), std::string(reason)});
}

const Value* Edits::Pending(const schemas::FieldView& map, std::string_view key) const {
  if (!written_.MayHave(key)) return nullptr;
  const auto found = writes_.find(Spell(map.path, key));
  return found == writes_.end() ? nullptr : &found->second.value;
}

std::optional<std::string_view> Edits::Label(const schemas::PodTemplateView& pod,
                                             std::string_view key) const {
  return PendingFirst(Pending(pod.labels, key), pod.Label(key));
}

std::optional<std::string_view> Edits::Annotation(const schemas::PodTemplateView& pod,
                                                  std::string_view key) const {
  return PendingFirst(Pending(pod.annotations, key), pod.Annotation(key));
}

std::vector<Change> Edits::Changes() const {
  std::vector<Change> changes;
  changes.reserve(writes_.size());
  for (const auto& [path, write] : writes_) {
    changes.push_back({write.mutator, path, write.reason});
  }
  return changes;
}

json::Value Edits::Below(Writes::const_iterator first, Writes::const_iterator last,
                         size_t depth) const {
  const std::string_view path = first->first;
  if (path.size() == depth) return json::CopyOf(first->second.value, *arena_);
  const size_t end = json::TokenEnd(path, depth);
  if (path.substr(depth, end - depth) == "/-") {
    Value* const item = arena_->Row<Value>(1);
    *item = Below(first, last, end);
    return Value::OfItems({item, 1});
  }
  // Sorted by path, those of one member stand together.
  json::Member* const row =
      arena_->Row<json::Member>(static_cast<size_t>(std::distance(first, last)));
  size_t count = 0;
  while (first != last) {
    const size_t token_end = json::TokenEnd(first->first, depth);
    const std::string_view upper = first->first.substr(0, token_end);
    auto next = first;
    while (next != last && next->first.starts_with(upper) &&
           json::TokenEnd(next->first, depth) == token_end) {
      ++next;
    }
    std::string key;
    json::Unescape(upper.substr(depth + 1), key);
    row[count++] = {arena_->Text(key), Below(first, next, token_end)};
    first = next;
  }
  json::SortMembers({row, count});
  return Value::OfMembers({row, count});
}

json::Patch Edits::BuildPatch() const {
  using Kind = json::Operation::Kind;
  std::vector<json::Operation> operations;
  operations.reserve(writes_.size());
  for (auto at = writes_.begin(); at != writes_.end();) {
    const auto& [path, write] = *at;
    const std::string_view parent = path.substr(0, write.reach);
    auto last = std::next(at);
    // Sorted by path, those below one missing parent stand together.
    if (parent.size() < path.size()) {
      while (last != writes_.end() && last->first.substr(0, last->second.reach) == parent) ++last;
    }
    operations.push_back(
        {write.replaces ? Kind::kReplace : Kind::kAdd, parent, Below(at, last, parent.size())});
    at = last;
  }
  return {std::move(operations), arena_};
}

}  // namespace mindgate::mutators
