#include "schemas/scaling_rule.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "base/text.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "schemas/field_view.h"
#include "schemas/names.h"
#include "schemas/reading.h"

namespace mindgate::schemas {
namespace {

using json::Child;
using json::Value;

constexpr std::string_view kVersion = "version";
constexpr std::string_view kTiers = "elastic_scaling_list";
constexpr std::string_view kGroups = "group_list";
constexpr std::string_view kName = "group_name";
constexpr std::string_view kNum = "group_num";
constexpr std::string_view kServers = "server_num_per_group";
// As many as are kept before the first fifty in the order of the text are reported.
constexpr size_t kMaxFaults = 200;
// A rule of as many tiers and groups as are read has fewer; those of a text of nothing but braces
// would cost more memory than they are worth.
constexpr size_t kMaxValues = 20'000;

constexpr std::string_view kWriteFewer = "write at most 64 tiers of at most 64 groups";
static_assert(kMaxTiers == 64 && kMaxGroupsOfTier == 64);
constexpr std::string_view kRefuses = ", so the operator refuses the whole rule";

// What a job's label can hold: a group of any other name can have no jobs.
bool IsLabelValue(std::string_view text) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= 63 && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [&](char c) {
           return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

bool Contains(std::string_view text, std::string_view part) {
  return ToLower(text).find(part) != std::string::npos;
}

// One group as far as it could be read.
struct Entry {
  size_t index = 0;  // in its group_list
  // Nothing when it is not a string; missing is empty, as in Go.
  std::optional<std::string_view> name;
  std::optional<int64_t> num;
  std::optional<int64_t> servers;
};

struct Tier {
  std::string path;  // of its group_list, once that is found
  std::vector<Entry> entries;
  std::vector<const Entry*> by_name;  // in the order of their names; the last of each

  std::string PathOf(const Entry& entry) const { return Child(path, entry.index); }
  std::string PathOf(const Entry& entry, std::string_view key) const {
    return Child(PathOf(entry), key);
  }
  const Entry* Find(std::string_view name) const {
    const auto found = std::lower_bound(
        by_name.begin(), by_name.end(), name,
        [](const Entry* entry, std::string_view wanted) { return *entry->name < wanted; });
    return found != by_name.end() && *(*found)->name == name ? *found : nullptr;
  }
  bool CanBeAimedAt() const {
    return std::any_of(by_name.begin(), by_name.end(),
                       [](const Entry* entry) { return entry->num.value_or(1) > 0; });
  }
};

// The pointer of a list item, spelled out only for what there is something to say about.
class ItemPath {
 public:
  ItemPath(std::string_view list, size_t index)
      : list_(list), token_("/" + std::to_string(index)) {}
  operator Pointer() const { return {list_, token_}; }  // NOLINT: it is one

 private:
  std::string_view list_;
  std::string token_;  // short enough to be kept in place
};

class ScalingRuleReader {
 public:
  ScalingRuleReading Read(std::string_view text) {
    if (text.size() > kMaxScalingRule) {
      reading_.refused.Add({{1, 1},
                            "",
                            "the rule is larger than mindgate reads: it has " +
                                std::to_string(text.size()) + " bytes, and " +
                                std::to_string(kMaxTiers) + " tiers of " +
                                std::to_string(kMaxGroupsOfTier) + " groups need fewer than " +
                                std::to_string(kMaxScalingRule),
                            std::string(kWriteFewer),
                            true});
      return std::move(reading_);
    }
    if (text.starts_with("\xEF\xBB\xBF")) {
      reading_.refused.Add({{1, 1},
                            "",
                            "the text begins with a byte order mark" + std::string(kRefuses),
                            "save the text without a byte order mark"});
    }
    const JsonComments comments = FindComments(text);
    if (comments.first) ReportComments(comments);
    std::string_view content = comments.blanked ? *comments.blanked : text;
    json::Limits limits;
    limits.elements = kMaxValues;
    auto root = json::Document::Decode(content, limits);
    RepeatedKeys repeated;
    if (!root && !root.error().beyond_limit) {
      repeated = FindRepeatedKeys(content);
      if (!repeated.keys.empty()) {
        content = repeated.blanked;
        root = json::Document::Decode(content, limits);
      }
    }
    if (!root) {
      json::Issue issue = root.error();
      if (issue.beyond_limit) {
        issue.message = "the rule is larger than mindgate reads: " + issue.message;
        issue.hint = kWriteFewer;
      } else {
        issue.message = "not valid JSON: " + issue.message + std::string(kRefuses);
        if (issue.hint.empty()) issue.hint = "correct the JSON text";
      }
      reading_.refused.Add(std::move(issue));
      return std::move(reading_);
    }
    for (const RepeatedKeys::Key& key : repeated.keys) {
      reading_.doubtful.Add({key.at, "",
                             "key " + Quote(key.name) +
                                 " is written twice in one object, and the operator takes the "
                                 "last one",
                             "keep one of them"});
    }
    root_ = &root->root();
    ReadRoot();
    CompareTiers();
    Doubt();
    PlaceFaults(content);
    if (reading_.refused.empty()) reading_.rule = Rule();
    return std::move(reading_);
  }

 private:
  enum class Gravity { kRefused, kUnworkable, kDoubtful };
  struct Fault {
    Gravity gravity;
    std::string path;
    std::string message;
    std::string hint;
  };

  void Add(Gravity gravity, std::string path, std::string message, std::string hint) {
    // Those of one gravity may not crowd out the others.
    size_t& count = counts_[static_cast<size_t>(gravity)];
    if (++count > kMaxFaults) return;
    faults_.push_back({gravity, std::move(path), std::move(message), std::move(hint)});
  }
  void Refuse(std::string path, std::string message, std::string hint) {
    message += kRefuses;
    Add(Gravity::kRefused, std::move(path), std::move(message), std::move(hint));
  }
  void Unworkable(std::string path, std::string message, std::string hint) {
    Add(Gravity::kUnworkable, std::move(path), std::move(message), std::move(hint));
  }
  void Doubtful(std::string path, std::string message, std::string hint) {
    Add(Gravity::kDoubtful, std::move(path), std::move(message), std::move(hint));
  }

  // True after it was refused that a list has more items than anybody writes by hand.
  bool IsTooLong(const Value& list, std::string path, std::string_view key, size_t max) {
    if (list.size() <= max) return false;
    Add(Gravity::kRefused, std::move(path),
        std::string(key) + " has " + std::to_string(list.size()) + " items, more than the " +
            std::to_string(max) + " that mindgate reads",
        "write at most " + std::to_string(max));
    return true;
  }

  void ReportComments(const JsonComments& comments) {
    std::vector<std::string> lines;
    for (const int line : comments.lines) lines.push_back(std::to_string(line));
    std::string message = "JSON does not allow comments, but there are some on line" +
                          std::string(lines.size() > 1 ? "s " : " ") + Join(lines, ", ") +
                          (comments.more ? " and more" : "");
    message += kRefuses;
    reading_.refused.Add({*comments.first, "", std::move(message),
                          "delete every comment, from its \"#\" or \"//\" to the end of the line"});
  }

  struct Found {
    const Value* value = nullptr;
    std::string_view key;  // as it is written
  };

  // Member `key` as Go's decoder finds it: in any case. Null counts as missing, as it leaves Go's
  // field at its zero value.
  Found Member(const Value& object, const Pointer& path, std::string_view key) {
    Found found{json::Find(object, key), key};
    for (const auto& [name, value] : object.members()) {
      if (name == key || !EqualIgnoreCase(name, key)) continue;
      Doubtful(path.Child(name),
               "the key is " + Quote(name) + " instead of " + Quote(key) +
                   ", which the operator reads but MindIE's controller does not",
               "write " + Quote(key));
      if (found.value == nullptr && !value.is_null()) found = {&value, name};
    }
    return found;
  }

  // True when the value is a map that can be read; null is Go's zero value and reads as empty.
  bool IsReadableObject(const Value& value, const Pointer& path, std::string_view what) {
    if (value.is_object()) return true;
    if (!value.is_null()) {
      Refuse(path, std::string(what) + " is " + WithArticle(value) + " instead of an object",
             "write an object in braces");
    }
    return false;
  }

  static std::string WithArticle(const Value& value) {
    const std::string_view type = value.is_number() ? "number" : json::TypeName(value);
    return (type == "object" ? "an " : "a ") + std::string(type);
  }

  bool IsReadableList(const Value& value, std::string path, std::string_view key) {
    if (value.is_array()) return true;
    Refuse(std::move(path), std::string(key) + " is " + WithArticle(value) + " instead of a list",
           "write a list in brackets");
    return false;
  }

  // The text of the member that was found; empty when it is missing.
  std::optional<std::string_view> String(const Found& found, const Pointer& path,
                                         std::string_view key, std::string_view example) {
    if (found.value == nullptr) return std::string_view();
    if (const auto text = json::AsString(found.value)) return text;
    // The user's own number in quotes is what was meant.
    const std::string meant =
        found.value->is_number() ? json::Dump(*found.value) : std::string(example);
    Refuse(path.Child(found.key),
           std::string(key) + " is " + WithArticle(*found.value) + " instead of a string in quotes",
           "write " + Quote(key) + ": " + Quote(meant));
    return std::nullopt;
  }

  std::optional<int64_t> Number(const Value& object, const Pointer& path, std::string_view key) {
    const Found found = Member(object, path, key);
    const auto text = String(found, path, key, "1");
    if (!text) return std::nullopt;
    const auto hint = [key] {
      return "write " + Quote(key) + ": " + Quote("1") + " with your number";
    };
    if (text->empty()) {
      Refuse(path.Child(found.key), std::string(key) + " is missing or empty", hint());
      return std::nullopt;
    }
    const auto number = ParseGoInt(*text);
    if (!number) {
      Refuse(path.Child(found.key),
             std::string(key) + " " + Quote(*text) + " is not a whole number in decimal digits",
             hint());
    } else if (*number < 0) {
      Unworkable(path.Child(found.key),
                 std::string(key) + " is " + std::to_string(*number) + ", less than 0",
                 "write a number of 0 or more");
    }
    return number;
  }

  void ReadRoot() {
    list_path_ = Child("", kTiers);
    if (!root_->is_object()) {
      if (!root_->is_null()) {
        IsReadableObject(*root_, "", "the rule");
        return;
      }
      ReportNoTiers();
      return;
    }
    const Found written = Member(*root_, {}, kVersion);
    const auto version = String(written, {}, kVersion, "1.0");
    if (version && !version->empty() && version != "1.0") {
      Doubtful(Child("", written.key),
               "version is " + Quote(*version) +
                   ", but only \"1.0\" is documented; the operator does not check it",
               "write \"version\": \"1.0\"");
    }
    const Found tiers = Member(*root_, {}, kTiers);
    list_path_ = Child("", tiers.key);
    const Value* list = tiers.value;
    if (list != nullptr && !IsReadableList(*list, list_path_, kTiers)) return;
    if (list != nullptr && IsTooLong(*list, list_path_, kTiers, kMaxTiers)) return;
    if (list == nullptr || list->empty()) {
      ReportNoTiers();
      return;
    }
    for (size_t i = 0; i < list->size(); ++i) ReadTier((*list)[i], Child(list_path_, i));
  }

  void ReportNoTiers() {
    Unworkable(list_path_,
               "elastic_scaling_list is missing or empty, so no job under this rule gets pods",
               "list at least one shape of the service");
  }

  void ReadTier(const Value& item, const std::string& path) {
    Tier& tier = tiers_.emplace_back();
    tier.path = path;
    const Pointer at{std::string_view(path)};
    if (!IsReadableObject(item, at, "the tier")) return;
    const Found groups = Member(item, at, kGroups);
    const Value* list = groups.value;
    if (list == nullptr) return;
    std::string list_path = at.Child(groups.key);
    if (!IsReadableList(*list, list_path, kGroups)) return;
    if (IsTooLong(*list, list_path, kGroups, kMaxGroupsOfTier)) return;
    tier.path = std::move(list_path);
    tier.entries.reserve(list->size());
    for (size_t i = 0; i < list->size(); ++i) ReadGroup((*list)[i], i, tier);
    OrderByName(tier);
  }

  void OrderByName(Tier& tier) {
    for (const Entry& entry : tier.entries) {
      if (entry.name) tier.by_name.push_back(&entry);
    }
    std::stable_sort(tier.by_name.begin(), tier.by_name.end(),
                     [](const Entry* a, const Entry* b) { return *a->name < *b->name; });
    const auto same = [](const Entry* a, const Entry* b) { return *a->name == *b->name; };
    std::vector<const Entry*> repeated;
    for (size_t i = 1; i < tier.by_name.size(); ++i) {
      if (same(tier.by_name[i - 1], tier.by_name[i])) repeated.push_back(tier.by_name[i]);
    }
    for (const Entry* entry : repeated) {
      Unworkable(tier.PathOf(*entry),
                 "group " + Quote(*entry->name) +
                     " is written twice in one group_list, and the last one silently wins",
                 "keep one of them");
    }
    // Of those of one name the last remains.
    const auto first = std::unique(tier.by_name.rbegin(), tier.by_name.rend(), same).base();
    tier.by_name.erase(tier.by_name.begin(), first);
  }

  void ReadGroup(const Value& group, size_t index, Tier& tier) {
    static constexpr Value kNothing = Value::OfMembers({});
    const ItemPath item(tier.path, index);
    const Pointer path = item;
    if (!IsReadableObject(group, path, "the group") && !group.is_null()) return;
    const Value& members = group.is_null() ? kNothing : group;
    Entry entry;
    entry.index = index;
    const Found written = Member(members, path, kName);
    entry.name = String(written, path, kName, "group0");
    if (entry.name && !IsLabelValue(*entry.name)) {
      Unworkable(path.Child(written.key),
                 entry.name->empty()
                     ? "group_name is missing or empty, so no job can belong to the group"
                     : "group_name " + Quote(*entry.name) +
                           " is not a valid label value, so no job can belong to it",
                 "write a name of letters, digits, '-', '_' and '.', at most 63 characters");
    }
    entry.num = Number(members, path, kNum);
    entry.servers = Number(members, path, kServers);
    tier.entries.push_back(entry);
  }

  void CompareTiers() {
    for (size_t i = 1; i < tiers_.size(); ++i) {
      const Tier& before = tiers_[i - 1];
      const Tier& tier = tiers_[i];
      for (const Entry* entry : tier.by_name) {
        const std::string_view name = *entry->name;
        const Entry* earlier = before.Find(name);
        if (earlier == nullptr) {
          Refuse(tier.PathOf(*entry),
                 "group " + Quote(name) + " is not in the tier before this one",
                 "list the largest shape first and every group in each tier");
          continue;
        }
        CompareServers(tier, *earlier, *entry);
        if (entry->num && earlier->num && *entry->num > *earlier->num) {
          Refuse(tier.PathOf(*entry, kNum), Grows(kNum, name, *earlier->num, *entry->num),
                 "list the largest shape first; no number may grow from one tier to the next");
        }
      }
      if (!tier.CanBeAimedAt()) continue;
      for (const Entry* entry : before.by_name) {
        if (tier.Find(*entry->name) != nullptr) continue;
        Unworkable(tier.path,
                   "group " + Quote(*entry->name) +
                       " is missing from this tier; once the service has shrunk to it, a job of "
                       "the group crashes the operator",
                   "add the group with \"group_num\": \"0\" if the tier wants none of it");
      }
    }
  }

  static std::string Grows(std::string_view key, std::string_view name, int64_t from, int64_t to) {
    return std::string(key) + " of " + Quote(name) + " grows from " + std::to_string(from) +
           " to " + std::to_string(to);
  }

  void CompareServers(const Tier& tier, const Entry& before, const Entry& now) {
    if (!before.servers || !now.servers || *before.servers == *now.servers) return;
    const std::string_view name = *now.name;
    const std::string at = tier.PathOf(now, kServers);
    const std::string hint = "write " + Quote(std::to_string(*before.servers)) + " in every tier";
    if (*now.servers > *before.servers) {
      Refuse(at, Grows(kServers, name, *before.servers, *now.servers), hint);
    } else {
      Doubtful(at,
               "server_num_per_group of " + Quote(name) + " is " + std::to_string(*now.servers) +
                   " after " + std::to_string(*before.servers) +
                   "; the documents require the same number in all tiers, the operator only "
                   "forbids growth",
               hint);
    }
  }

  // What works for the operator and yet is not what the documents or MindIE's controller expect.
  void Doubt() {
    if (tiers_.empty()) return;
    const bool aims = std::any_of(tiers_.begin(), tiers_.end(),
                                  [](const Tier& tier) { return tier.CanBeAimedAt(); });
    if (!aims) {
      Unworkable(list_path_, "no tier wants any job, so no job under this rule gets pods",
                 "write a \"group_num\" of at least \"1\" in the first tier");
      return;
    }
    for (const Tier& tier : tiers_) {
      if (tier.entries.empty()) {
        Doubtful(tier.path, "the tier has no groups, so the operator never targets it",
                 "remove the tier or list its groups");
      }
      for (const Entry& entry : tier.entries) {
        if (entry.servers != 0) continue;
        Doubtful(tier.PathOf(entry, kServers), "server_num_per_group is 0, but a job has pods",
                 "write the number of pods of one job of the group");
      }
    }
    DoubtZeros();
    DoubtPositions(tiers_.front());
  }

  void DoubtZeros() {
    const Tier& largest = tiers_.front();
    for (const Entry* entry : largest.by_name) {
      if (entry->num != 0) continue;
      Doubtful(
          largest.PathOf(*entry, kNum),
          "no tier wants a job of group " + Quote(*entry->name) + ", so none of its jobs gets pods",
          "write at least \"1\", or remove the group");
    }
    const Tier& minimal = tiers_.back();
    for (const Entry* entry : minimal.by_name) {
      const Entry* full = largest.Find(*entry->name);
      if (entry->num != 0 || full == nullptr || full->num == 0) continue;
      Doubtful(minimal.PathOf(*entry, kNum),
               "the minimal shape wants no job of group " + Quote(*entry->name) +
                   ", so one starts only when the rest of this tier runs",
               "write \"1\" if the service needs the group to serve at all");
    }
  }

  // MindIE Motor's controller takes group_list[0] of the first tier for prefill and [1] for decode,
  // whatever the names (mindie_motor/src/controller/fault_manager/FaultManager.cpp).
  void DoubtPositions(const Tier& largest) {
    const auto& entries = largest.entries;
    if (entries.size() < 2) {
      Doubtful(largest.path,
               "the first tier has " + std::string(entries.empty() ? "no group" : "one group") +
                   ", but MindIE's controller reads two: prefill first, then decode",
               "list the prefill group and then the decode group");
      return;
    }
    const bool swapped = (Contains(entries[0].name.value_or(""), "decode") &&
                          Contains(entries[1].name.value_or(""), "prefill")) ||
                         (entries[0].name == "group1" && entries[1].name == "group0");
    if (!swapped) return;
    Doubtful(largest.PathOf(entries[0]),
             "group " + Quote(*entries[0].name) + " is listed before " + Quote(*entries[1].name) +
                 ", but MindIE's controller takes the first group for prefill and the second for "
                 "decode",
             "put the prefill group first");
  }

  void PlaceFaults(std::string_view text) {
    if (faults_.empty()) return;
    const auto left_out = [this](Gravity gravity) {
      const size_t count = counts_[static_cast<size_t>(gravity)];
      return count - std::min(count, kMaxFaults);
    };
    reading_.refused.Drop(left_out(Gravity::kRefused));
    reading_.unworkable.Drop(left_out(Gravity::kUnworkable));
    reading_.doubtful.Drop(left_out(Gravity::kDoubtful));
    const json::Positions places = json::PositionsOf(text);
    std::vector<std::pair<json::Position, const Fault*>> placed;
    placed.reserve(faults_.size());
    for (const Fault& fault : faults_) placed.emplace_back(places.At(fault.path), &fault);
    std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
    });
    for (const auto& [at, fault] : placed) {
      json::Issue issue{at, json::FieldPath(*root_, fault->path), fault->message, fault->hint};
      switch (fault->gravity) {
        case Gravity::kRefused:
          reading_.refused.Add(std::move(issue));
          break;
        case Gravity::kUnworkable:
          reading_.unworkable.Add(std::move(issue));
          break;
        case Gravity::kDoubtful:
          reading_.doubtful.Add(std::move(issue));
          break;
      }
    }
  }

  ScalingRule Rule() const {
    ScalingRule rule;
    rule.tiers.reserve(tiers_.size());
    for (const Tier& tier : tiers_) {
      ScalingTier& out = rule.tiers.emplace_back();
      for (const Entry& entry : tier.entries) {
        if (!entry.name || tier.Find(*entry.name) != &entry) continue;
        out.groups.push_back(
            {std::string(*entry.name), entry.num.value_or(0), entry.servers.value_or(0)});
      }
    }
    return rule;
  }

  ScalingRuleReading reading_;
  const Value* root_ = nullptr;
  std::string list_path_;
  std::deque<Tier> tiers_;  // by_name points into its own tier, which must not be copied
  std::vector<Fault> faults_;
  std::array<size_t, 3> counts_{};  // of faults, by gravity
};

}  // namespace

const ScalingGroup* ScalingTier::Find(std::string_view group_name) const {
  for (const ScalingGroup& group : groups) {
    if (group.group_name == group_name) return &group;
  }
  return nullptr;
}

bool ScalingTier::CanBeAimedAt() const {
  return std::any_of(groups.begin(), groups.end(),
                     [](const ScalingGroup& group) { return group.group_num > 0; });
}

bool ScalingRule::HasGroup(std::string_view group_name) const {
  return !tiers.empty() && tiers.front().Find(group_name) != nullptr;
}

std::optional<size_t> ScalingRule::TierWithout(std::string_view group_name) const {
  for (size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i].CanBeAimedAt() && tiers[i].Find(group_name) == nullptr) return i;
  }
  return std::nullopt;
}

ScalingRuleReading ReadScalingRule(std::string_view text) { return ScalingRuleReader().Read(text); }

std::optional<std::string_view> ScalingRuleText(const Value& config_map) {
  return json::FindString(json::Find(config_map, "data"), kScalingRuleKey);
}

std::optional<std::string_view> MisspelledRuleKey(const Value& config_map) {
  // A ConfigMap is read for its kind alone, and most have nothing to do with scaling.
  constexpr size_t kMaxKeys = 64;
  constexpr int kTypos = 2;
  static const NormalizedKey right(kScalingRuleKey);
  const Value* data = json::Find(config_map, "data");
  if (!json::IsObject(data) || json::Find(*data, kScalingRuleKey) != nullptr) return std::nullopt;
  for (const auto& [key, value] : data->members().first(std::min(kMaxKeys, data->size()))) {
    if (key.size() <= NormalizedKey::kMax && value.is_string() &&
        NormalizedKey(key).Resembles(right, kTypos)) {
      return key;
    }
  }
  return std::nullopt;
}

}  // namespace mindgate::schemas
